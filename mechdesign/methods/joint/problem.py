"""What is asked of a joint response: how many users, which share, who colludes, and what that may cost at most."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.exact.joint_limits import Limits, group_limits
from mechdesign.exact.joint_variance import Goal
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import alignment, require_categories, require_group, require_population
from mechdesign.panels import integrate_between
from mechdesign.values.codec import named
from mechdesign.values.declare import GAP_OPTION, epsilon, field, finite, frozen, option, settle, whole, within
from mechdesign.values.dyadic import dyadic
from mechdesign.words.criteria import Aim, Criterion
from mechdesign.words.priors import Atoms, Density, Prior
from mechdesign.words.privacy import Collusion, require_caps, require_colluders

LEAST_EPSILON = 1e-3
"""Below it a linear program's tolerance would be seen; pairs need none and take any epsilon."""

_ROUNDING = 1e-9
_CAPS_OPTION = option("--conditional-eps", "Cap on eps if one partner colludes; A,B,... if one, two, ... do.")


@frozen
class Moments:
    """A prior on the share as far as the mean of a variance that is quadratic in it goes.

    >>> Moments.of(Atoms([0.0, 0.4], [0.5, 0.5]))
    Moments(mean=0.2, mean_square=0.08000000000000002)
    """

    kind: ClassVar[str] = "moments"

    mean: float = finite("mean")
    mean_square: float = finite("mean square")

    def __attrs_post_init__(self) -> None:
        mean, square = self.mean, self.mean_square
        if not (0 <= mean <= 1 and mean * mean - _ROUNDING <= square <= mean + _ROUNDING):
            raise InvalidInput("share", (mean, square), "be the mean and the mean square of shares from 0 to 1")

    @classmethod
    def of(cls, prior: Prior) -> Moments:
        """Those of a prior, as doubles."""
        return cls(*map(float, _moments(prior)))


Share = float | tuple[float, float] | Moments | Prior


def as_share(said: Any) -> Any:
    """A share or a range of them as plain doubles, a prior as it is."""
    if isinstance(said, Atoms | Density | Moments):
        return said
    ends = said if isinstance(said, tuple) else (said,)
    if isinstance(said, tuple) and len(ends) != 2:
        raise InvalidInput("share", said, "be a number or a range LEAST,MOST")
    for end in ends:
        if not 0 <= require_finite(end, "share") <= 1:
            raise InvalidInput("share", end, "lie between 0 and 1", "it is the fraction of users")
    plain = tuple(float(end) for end in ends)
    if plain[0] > plain[-1]:
        raise InvalidInput("share", said, "be a range LEAST,MOST with LEAST at most MOST")
    return plain if isinstance(said, tuple) else plain[0]


def require_share(share: Share, categories: int) -> None:
    """`InvalidInput` for a prior that is not on [0, 1], and for a range where there are more categories."""
    if isinstance(share, Atoms):
        points = share.points
        if points.min() < 0 or points.max() > 1:
            raise InvalidInput("share", [float(points.min()), float(points.max())], "lie between 0 and 1")
    elif isinstance(share, Density):
        if share.domain.lower < 0 or share.domain.upper > 1:
            raise InvalidInput("share", share.name, "be a prior on [0, 1]")
    elif isinstance(share, tuple) and categories > 2:
        raise InvalidInput("share", share, "be a number or a prior where there are more categories")


def goal_of(share: Share, users: int, group: int, categories: int) -> Goal:
    """What is to be small, with groups of so many users."""
    if isinstance(share, float):
        count = Fraction(count_of(share, users) or 0)
        return Goal.of_counts(users, group, categories, count, count)
    if isinstance(share, tuple):
        least, most = math.ceil(share[0] * users), math.floor(share[1] * users)
        if least > most:
            raise InvalidInput("share", share, f"hold a whole number of the {users} users", "widen the range")
        return Goal.of_counts(users, group, categories, Fraction(least), Fraction(most))
    mean, square = _moments(share)
    own = mean * users
    # alignment is quadratic in the count: its mean needs the variance of the count on top of its value at the mean
    curvature = Fraction(group - 1, users - 1) * Fraction(categories, categories - 1) ** 2
    aligned = alignment(users, own, group, categories) + curvature * (square - mean * mean) * users * users
    return Goal(users, group, categories, own, aligned, aligned)


def share_words(share: Share, users: int) -> str:
    """Which share an estimate is good for."""
    if isinstance(share, float):
        return f"{count_of(share, users)} of them hold the value counted"
    if isinstance(share, tuple):
        return f"the worst share from {share[0]:g} to {share[1]:g}"
    mean, square = (float(moment) for moment in _moments(share))
    return f"the mean over the prior on the share (mean {mean:.6g}, mean square {square:.6g})"


def count_of(share: Share, users: int) -> int | None:
    """The number of users that hold the value, if a share stands for one number."""
    return round(share * users) if isinstance(share, float) else None


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


def _moments(prior: Prior | Moments) -> tuple[Fraction, Fraction]:
    """Mean and mean square of a prior on shares."""
    if isinstance(prior, Moments):
        return Fraction(prior.mean), Fraction(prior.mean_square)
    if isinstance(prior, Atoms):
        (weights, _), (points, shift) = dyadic(prior.weights), dyadic(prior.points)
        mean, square = (sum(w * x**order for w, x in zip(weights, points, strict=True)) for order in (1, 2))
        return Fraction(mean, sum(weights) << shift), Fraction(square, sum(weights) << 2 * shift)
    cuts = np.unique([prior.domain.lower, *prior.breakpoints, prior.domain.upper])

    def moment(order: int) -> float:
        return integrate_between(lambda x: prior(x) * x**order, cuts)

    mass = moment(0)
    return Fraction(moment(1) / mass), Fraction(moment(2) / mass)
