"""What is asked of a joint response: how many users, which share, who colludes, and what that may cost at most."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.joint_limits import Limits, group_limits
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import alignment, require_categories, require_group, require_population
from mechdesign.values.codec import named
from mechdesign.values.declare import GAP_OPTION, epsilon, field, finite, frozen, option, settle, whole, within
from mechdesign.words.counts import Share, as_share, count_of, counts_of, moments_of, require_share, share_words
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.privacy import Collusion, require_caps, require_colluders

LEAST_EPSILON = 1e-3
"""Below it a linear program's tolerance would be seen; pairs need none and take any epsilon."""

_CAPS_OPTION = option("--conditional-eps", "Cap on eps if one partner colludes; A,B,... if one, two, ... do.")


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
class JointProblem:
    """Estimate how many of ``users`` hold a category; ``share`` is the fraction that does.

    ``share`` is a number, a range ``(least, most)`` whose worst is to be best, or a prior (or its `Moments`) under
    which the mean is. ``colluders`` users share all they know with the collector. ``caps[c-1]`` bounds the epsilon of a
    user of whose partners c collude; None is no cap. ``gap`` is the relative distance of the proven bounds at which a
    search over groups stops.

    A density enters by its moments alone: they are what a design's problem holds, and its report names the density.
    """

    kind: ClassVar[str] = "joint"

    epsilon: float = epsilon()
    users: int = field(metadata=option("--users", "How many users report (10000)."))
    share: Share = field(
        converter=as_share,
        metadata=option("--share", "The share of users with a 1, or LEAST,MOST for the worst (0.1)."),
    )
    colluders: int = whole(
        "colluders", 0, default=0, metadata=option("--colluders", "Users who tell the collector all they know.")
    )
    group: int = field(default=2, converter=require_group, metadata=option("--group", "Users who answer together."))
    caps: tuple[float | None, ...] = field(
        default=(), converter=require_caps, metadata=named("conditional_epsilons") | _CAPS_OPTION
    )
    categories: int = field(
        default=2,
        converter=require_categories,
        metadata=option("--categories", "How many values a user can have."),
    )
    gap: float = finite(
        "gap", default=1e-3, validator=within("gap", 1e-9, math.nextafter(1.0, 0.0)), metadata=GAP_OPTION
    )

    def __attrs_post_init__(self) -> None:
        if isinstance(self.users, int | np.integer) and 2 <= self.users < self.group:
            raise InvalidInput("group", self.group, f"be at most the number of users, {self.users}")
        settle(self, users=require_population(self.users, self.group))
        require_colluders(self.colluders, self.users)
        if len(self.caps) > self.group - 1:
            rule = f"have at most {self.group - 1} entries, one for each partner in a group of {self.group}"
            raise InvalidInput("conditional eps", self.caps, rule, "a larger --group has more partners")
        if not self.is_pair:
            self._require_visible()
        require_share(self.share, self.categories)

    def _require_visible(self) -> None:
        for name, asked in (("eps", self.epsilon), *(("conditional eps", cap) for cap in self.caps)):
            if asked is not None and asked < LEAST_EPSILON:
                raise InvalidInput(name, asked, f"be at least {LEAST_EPSILON:g} for groups", "take --group 2")

    @property
    def privacy(self) -> Collusion:
        """What every law must keep."""
        return Collusion(self.epsilon, self.users, self.colluders, self.caps)

    @property
    def criterion(self) -> Criterion:
        return Criterion(Aim.COUNT)

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

    @property
    def heading(self) -> str:
        """What is asked, on one line."""
        who = f"{self.users} users in random groups of {self.group}"
        more = f", {self.categories} values" if self.categories > 2 else ""
        colluding = f"{self.colluders or 'none'} collude"
        said = f"{who}{more}, {share_words(self.share, self.users)}, {colluding}{self._capped}"
        return f"Joint randomised response, eps = {self.epsilon:g}: {said}"

    @property
    def _capped(self) -> str:
        caps = [(known, cap) for known, cap in enumerate(self.caps, start=1) if cap is not None]
        return "".join(f", eps at most {cap:g} for who knows {known} of a group" for known, cap in caps)

    def echo(self) -> dict[str, int | None]:
        """The number of users that a share stands for."""
        return {"count": self.count}
