"""Users in random groups, in numbers: what the words of a problem mean for the law of the truthful of a group."""

from __future__ import annotations

from fractions import Fraction

from mechdesign.errors import InvalidInput
from mechdesign.exact.joint_limits import Limits, group_limits
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import alignment
from mechdesign.methods.joint.supports import supports
from mechdesign.values.declare import frozen
from mechdesign.words.classes import Together
from mechdesign.words.counts import Count, Share, count_of, counts_of, moments_of
from mechdesign.words.privacy import Collusion
from mechdesign.words.problem import Problem


def goal_of(share: Share, users: int, group: int, categories: int) -> Goal:
    """What is to be small, with groups of so many users."""
    if isinstance(share, float):
        count = Fraction(count_of(share, users) or 0)
        return Goal.of_counts(users, group, categories, count, count)
    if isinstance(share, tuple):
        least, most = counts_of(share, users)
        return Goal.of_counts(users, group, categories, Fraction(least), Fraction(most))
    mean, square = moments_of(share)
    own = mean * users
    # alignment is quadratic in the count: its mean needs the variance of the count on top of its value at the mean
    curvature = Fraction(group - 1, users - 1) * Fraction(categories, categories - 1) ** 2
    aligned = alignment(users, own, group, categories) + curvature * (square - mean * mean) * users * users
    return Goal(users, group, categories, own, aligned, aligned)


@frozen
class Grouping:
    """Users in random groups, of whom some collude: ``share`` of them have the value counted of so many categories."""

    privacy: Collusion
    share: Share
    group: int
    categories: int

    @property
    def epsilon(self) -> float:
        return self.privacy.epsilon

    @property
    def users(self) -> int:
        return self.privacy.users

    @property
    def colluders(self) -> int:
        return self.privacy.colluders

    @property
    def is_pair(self) -> bool:
        """Whether the closed form answers it."""
        return self.group == 2 and self.categories == 2

    @property
    def count(self) -> int | None:
        """The number of users in the category, if there is one number."""
        return count_of(self.share, self.users)

    def goal(self) -> Goal:
        """What is to be small."""
        return goal_of(self.share, self.users, self.group, self.categories)

    def limits(self, *, up: bool, margin: float = 0.0) -> Limits:
        """The budgets of a group as probabilities: rounded up, or down by a share ``margin``."""
        return group_limits(self.privacy, self.group, self.categories, up=up, margin=margin)

    @property
    def independent_variance(self) -> float:
        """The variance of randomised response at the same epsilon, whatever the caps."""
        ratio = exp_lower(self.epsilon)
        return float(self.goal().variance(ratio / (ratio + self.categories - 1), Fraction(0)))


def grouping_of(problem: object) -> Grouping:
    """The problem in numbers, or `InvalidInput`.

    >>> asked = Problem(loss=Count(0.033), privacy=Collusion(1.0, users=10000), among=Together(group=2))
    >>> round(grouping_of(asked).independent_variance, 1)
    9206.7
    """
    if isinstance(problem, Problem) and isinstance(problem.loss, Count) and isinstance(problem.privacy, Collusion):
        why, among = supports(problem), problem.among
        if why is None and isinstance(among, Together) and among.group is not None:
            return Grouping(problem.privacy, problem.loss.share, among.group, len(problem.numbers))
    else:
        why = "a count of users of whom some collude"
    raise InvalidInput("problem", problem, f"be one of groups: {why}", "design one with jrr")
