"""All users who answer together, in numbers: the variance of their count, and what is small in it."""

from __future__ import annotations

import math
from fractions import Fraction

from mechdesign.errors import CheckFailed
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower, exp_upper
from mechdesign.methods.hidden_joint.supports import supports
from mechdesign.methods.joint.grouping import goal_of
from mechdesign.values.declare import frozen
from mechdesign.words.classes import Together
from mechdesign.words.counts import Count, Share, count_of
from mechdesign.words.privacy import Hidden
from mechdesign.words.problem import Problem


@frozen
class Objective:
    """A variance ``V`` of an estimate as a ratio: ``V = E h / d^2 - offset`` with ``h(K)`` quadratic in the liars.

    ``d = scale (p - floor)`` is what the estimate divides by, and ``E h = constant + linear p + pairs E[T T']`` for two
    users' truths. As the expectation of a square given K, h is nowhere negative.
    """

    users: int
    constant: Fraction
    linear: Fraction
    pairs: Fraction
    scale: Fraction
    floor: Fraction
    offset: Fraction

    def height(self) -> tuple[Fraction, Fraction, Fraction]:
        """``h(k)`` for k liars, as the coefficients of 1, k and k^2."""
        n = self.users
        each, two = self.linear / n, self.pairs / (n * (n - 1))
        return (
            self.constant + self.linear + self.pairs,
            -each - two * (2 * n - 1),
            two,
        )

    def divisor(self) -> tuple[Fraction, Fraction, Fraction]:
        """``d`` for k liars, likewise."""
        return self.scale * (1 - self.floor), -self.scale / self.users, Fraction(0)

    def most_divisor(self, ratio: Fraction, wrong: int) -> Fraction:
        """The largest d that a law can have: p is at most ``ratio / (ratio + wrong)``."""
        return self.scale * (ratio / (ratio + wrong) - self.floor)


@frozen
class Crowd:
    """All users who answer together, in numbers: what the words of a problem mean for the law of the liars.

    ``categories`` are the values, or the hash values that are reported in their place.
    """

    epsilon: float
    users: int
    share: Share
    categories: int = 2
    encoding: str = "response"
    delta: float = 0.0

    @property
    def answers(self) -> int:
        """How many values a single answer can have."""
        return 2 if self.encoding == "unary" else self.categories

    @property
    def count(self) -> int | None:
        """The number of users in the category, if there is one number."""
        return count_of(self.share, self.users)

    def ratio(self, *, up: bool) -> Fraction:
        """``e^eps`` of a single answer, rounded."""
        each = Fraction(self.epsilon) / (2 if self.encoding == "unary" else 1)
        return exp_upper(each) if up else exp_lower(each)

    def goal(self) -> Goal:
        """What is to be small: all users are one group."""
        goal = goal_of(self.share, self.users, self.users, self.answers)
        if self.encoding != "hashing":
            return goal
        # only users of the category itself have support that is drawn together, and of those every two
        square = _mean_square(goal, self.answers)
        return Goal(self.users, self.users, self.answers, goal.own, square - goal.own, square - goal.own)

    @property
    def alignment(self) -> Fraction:
        """B of the bound: the least in question where that is above 0, and else none above what is in question."""
        goal = self.goal()
        return goal.low if goal.low > 0 else min(goal.high, Fraction(0))

    def objective(self, pairs: Fraction) -> Objective:
        """The variance at some alignment: at `alignment` no law has less of a variance than that."""
        goal, k = self.goal(), self.answers
        own, rest = goal.own, goal.users - goal.own
        if self.encoding == "hashing":
            offset = own + pairs
            spread = rest * Fraction(1, k) * (1 - Fraction(1, k)) + offset * Fraction(1, k) ** 2
            return Objective(
                goal.users, spread, own - 2 * offset * Fraction(1, k), pairs, Fraction(1), Fraction(1, k), offset
            )
        wrong = Fraction(k - 1)
        offset = (wrong / k) ** 2 * (own + rest / wrong**2 + pairs)
        constant = rest * (k - 2) / wrong**2 + offset / wrong**2
        linear = own - rest * (k - 3) / wrong**2 - 2 * k * offset / wrong**2
        return Objective(goal.users, constant, linear, pairs, k / wrong, Fraction(1, k), offset)

    def variance(self, truth: Fraction, covariance: Fraction) -> Fraction:
        """The variance of the estimate under a law: at its worst over a range of shares, on average under a prior."""
        goal, k = self.goal(), self.answers
        if self.encoding != "hashing":
            result: Fraction = goal.variance(truth, covariance)
            return result
        other, rest = Fraction(1, k), goal.users - goal.own
        spread = goal.own * truth * (1 - truth) + rest * other * (1 - other)
        return (spread + goal.low * covariance) / (truth - other) ** 2

    @property
    def independent_variance(self) -> float:
        """The variance of users who answer on their own at the same epsilon."""
        ratio = self.ratio(up=False)
        return float(self.variance(ratio / (ratio + self.answers - 1), Fraction(0)))

    @property
    def floor(self) -> float | None:
        """The share of independent answers' variance that is left however many users there are.

        None if nothing is known: the formula is one for a single share of two values that are reported as they are,
        and with a delta there are laws below it.
        """
        if self.delta or self.answers > 2 or self.encoding == "hashing" or not isinstance(self.share, float):
            return None
        return limit_ratio(self.share)


def crowd_of(problem: object) -> Crowd:
    """The problem in numbers, or `CheckFailed`: evidence may be given any problem."""
    if isinstance(problem, Problem) and isinstance(problem.loss, Count) and isinstance(problem.privacy, Hidden):
        why, among = supports(problem), problem.among
        if why is None and isinstance(among, Together):
            users, delta, size = problem.privacy.users, problem.privacy.delta, len(problem.numbers)
            return Crowd(problem.epsilon, users, problem.loss.share, size, among.encoding, delta)
        raise CheckFailed(f"the evidence is about no such problem: {why}")
    raise CheckFailed("the evidence is about a count of users whose answers are hidden in those of all")


def _mean_square(goal: Goal, categories: int) -> Fraction:
    """The mean square of the count, from the alignment ``B = (n_x - r)^2 - n_x - r/(k-1)``, ``r = (n - n_x)/(k-1)``."""
    wrong = categories - 1
    mean_rest = (goal.users - goal.own) / wrong
    square = goal.low + goal.own + mean_rest / wrong  # of n_x - r = (k n_x - n) / (k - 1)
    k, n = categories, goal.users
    result: Fraction = (square * wrong**2 + 2 * k * n * goal.own - n * n) / (k * k)
    return result


def expected_ratio(epsilon: float, users: int, share: float) -> float:
    """What is left of the variance for many users: ``4 s (1-s)`` and a term that falls like ``n^(-1/3)``.

    With ``q = 1/(1 + e^eps)`` the peak stands ``z`` users above the ``n q`` who lie on their own. Beyond it the law
    falls like a geometric one, by ``e^(-z / (n q (1-q)))`` a user, so ``Var K = (n q (1-q) / z)^2``, and each user by
    which z grows costs ``4 s (1-s) / (1-2q)^3``. The best z grows like ``n^(2/3)``.

    >>> round(expected_ratio(1.0, 10**6, 0.033), 3)  # the optimum is .1414
    0.141
    """
    q = 1 / (1 + math.exp(epsilon))
    price = 4 * share * (1 - share) / (1 - 2 * q) ** 3
    spread = ((1 - 2 * share) * q * (1 - q) / (1 - 2 * q)) ** 2
    own = q * (1 - q) / (1 - 2 * q) ** 2
    return limit_ratio(share) + 1.5 * price * math.cbrt(2 * spread / price / users) / own


def limit_ratio(share: float) -> float:
    """What is left of the variance of independent answers as users grow without limit: ``4 s (1 - s)``.

    >>> round(limit_ratio(0.033), 4)
    0.1276
    """
    return 4 * share * (1 - share)
