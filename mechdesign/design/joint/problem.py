"""What is asked of a joint response: how many users, which share, who colludes, and what that may cost at most."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np

from mechdesign.design.joint.pair_bound import Goal
from mechdesign.design.joint.proof import require_colluders
from mechdesign.errors import InvalidInput, require_epsilon, require_finite, require_number
from mechdesign.mechanisms.joint import alignment, require_categories, require_group, require_population
from mechdesign.panels import integrate_between
from mechdesign.priors import Atoms, Density, Prior

LEAST_EPSILON = 1e-3
"""Below it a linear program's tolerance would be seen; pairs need none and take any epsilon."""

_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Moments:
    """A prior on the share as far as the mean of a variance that is quadratic in it goes.

    >>> Moments(0.2, 0.05).to_dict()
    {'mean': 0.2, 'mean_square': 0.05}
    """

    mean: float
    mean_square: float

    def __post_init__(self) -> None:
        mean, square = require_finite(self.mean, "mean"), require_finite(self.mean_square, "mean square")
        if not (0 <= mean <= 1 and mean * mean - _ROUNDING <= square <= mean + _ROUNDING):
            raise InvalidInput("share", (mean, square), "be the mean and the mean square of shares from 0 to 1")
        object.__setattr__(self, "mean", mean)
        object.__setattr__(self, "mean_square", square)

    def to_dict(self) -> dict[str, float]:
        return {"mean": self.mean, "mean_square": self.mean_square}


Share = float | tuple[float, float] | Prior | Moments


@dataclass(frozen=True, slots=True)
class JointProblem:
    """Estimate how many of ``users`` hold a category; ``share`` is the fraction that does.

    ``share`` is a number, a range ``(least, most)`` whose worst is to be best, or a prior (or its `Moments`) under
    which the mean is. ``colluders`` users share all they know with the collector. ``caps[c-1]`` bounds the epsilon of a
    user of whose partners c collude; None is no cap. ``gap`` is the relative distance of the proven bounds at which a
    search over groups stops.
    """

    epsilon: float
    users: int
    share: Share
    colluders: int = 0
    group: int = 2
    caps: tuple[float | None, ...] = ()
    categories: int = 2
    gap: float = 1e-3

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        group = require_group(self.group)
        if isinstance(self.users, int | np.integer) and 2 <= self.users < group:
            raise InvalidInput("group", group, f"be at most the number of users, {self.users}")
        # numpy's numbers become Python's, which JSON and fractions take
        object.__setattr__(self, "group", group)
        object.__setattr__(self, "users", require_population(self.users, group))
        object.__setattr__(self, "colluders", require_colluders(self.colluders, self.users))
        object.__setattr__(self, "categories", require_categories(self.categories))
        object.__setattr__(self, "caps", self._caps())
        object.__setattr__(self, "gap", require_finite(self.gap, "gap"))
        if not 1e-9 <= self.gap < 1:
            raise InvalidInput("gap", self.gap, "lie between 1e-9 and 1")
        if not self.is_pair and self.epsilon < LEAST_EPSILON:
            raise InvalidInput("eps", self.epsilon, f"be at least {LEAST_EPSILON:g} for groups", "take --group 2")
        self._require_share()

    def _caps(self) -> tuple[float | None, ...]:
        if len(self.caps) > self.group - 1:
            rule = f"have at most {self.group - 1} entries, one for each partner in a group of {self.group}"
            raise InvalidInput("conditional eps", self.caps, rule, "a larger --group has more partners")
        for cap in self.caps:
            if cap is not None and not require_number(cap, "conditional eps") > 0:
                step = "every cap above 0 is feasible: independent answers at that eps keep it"
                raise InvalidInput("conditional eps", cap, "be above 0", step)
            if cap is not None and not self.is_pair and cap < LEAST_EPSILON:
                rule = f"be at least {LEAST_EPSILON:g} for groups"
                raise InvalidInput("conditional eps", cap, rule, "take --group 2")
        return tuple(None if cap is None else require_epsilon(cap, "conditional eps") for cap in self.caps)

    def _require_share(self) -> None:
        if isinstance(self.share, Atoms):
            points = self.share.points
            if points.min() < 0 or points.max() > 1:
                raise InvalidInput("share", [float(points.min()), float(points.max())], "lie between 0 and 1")
        elif isinstance(self.share, Density):
            if self.share.domain.lower < 0 or self.share.domain.upper > 1:
                raise InvalidInput("share", self.share.name, "be a prior on [0, 1]")
        elif not isinstance(self.share, Moments):
            ends = self.share if isinstance(self.share, tuple) else (self.share, self.share)
            if len(ends) != 2:
                raise InvalidInput("share", self.share, "be a number or a range LEAST,MOST")
            for end in ends:
                if not 0 <= require_finite(end, "share") <= 1:
                    raise InvalidInput("share", end, "lie between 0 and 1", "it is the fraction of users")
            plain = [float(end) for end in ends]
            object.__setattr__(self, "share", tuple(plain) if isinstance(self.share, tuple) else plain[0])
            if isinstance(self.share, tuple):
                if ends[0] > ends[1]:
                    raise InvalidInput("share", self.share, "be a range LEAST,MOST with LEAST at most MOST")
                if self.categories > 2:
                    raise InvalidInput("share", self.share, "be a number or a prior where there are more categories")

    @property
    def is_pair(self) -> bool:
        """Whether the closed form answers it."""
        return self.group == 2 and self.categories == 2

    @property
    def count(self) -> int | None:
        """The number of users in the category, if there is one number."""
        return round(self.share * self.users) if isinstance(self.share, float) else None

    def goal(self) -> Goal:
        """What is to be small."""
        users, group, k = self.users, self.group, self.categories
        if self.count is not None:
            return Goal.of_counts(users, group, k, Fraction(self.count), Fraction(self.count))
        if isinstance(self.share, tuple):
            least, most = math.ceil(self.share[0] * users), math.floor(self.share[1] * users)
            if least > most:
                raise InvalidInput("share", self.share, f"hold a whole number of the {users} users", "widen the range")
            return Goal.of_counts(users, group, k, Fraction(least), Fraction(most))
        assert isinstance(self.share, Atoms | Density | Moments)
        mean, square = _moments(self.share)
        own = mean * users
        # alignment is quadratic in the count: its mean needs the variance of the count on top of its value at the mean
        curvature = Fraction(group - 1, users - 1) * Fraction(k, k - 1) ** 2
        aligned = alignment(users, own, group, k) + curvature * (square - mean * mean) * users * users
        return Goal(users, group, k, own, aligned, aligned)

    def to_dict(self) -> dict[str, Any]:
        share: Any = self.share
        if isinstance(share, Atoms):
            share = {"points": share.points.tolist(), "weights": share.weights.tolist()}
        elif isinstance(share, Density):
            share = Moments(*map(float, _moments(share))).to_dict()
        elif isinstance(share, Moments):
            share = share.to_dict()
        return {
            "kind": "joint",
            "epsilon": self.epsilon,
            "users": self.users,
            "share": list(share) if isinstance(share, tuple) else share,
            "count": self.count,
            "colluders": self.colluders,
            "group": self.group,
            "conditional_epsilons": list(self.caps),
            "categories": self.categories,
            "gap": self.gap,
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        """The problem of `to_dict`: of a density its moments are left.

        >>> from mechdesign.domains import Interval
        >>> from mechdesign.priors import uniform
        >>> problem = JointProblem(1.0, 100, uniform(Interval(0, 1)))
        >>> JointProblem.from_dict(problem.to_dict()).goal() == problem.goal()
        True
        """
        names = "epsilon", "users", "colluders", "group", "categories", "gap"
        numbers = {name: fields[name] for name in names}
        return cls(share=_share_of(fields["share"]), caps=tuple(fields["conditional_epsilons"]), **numbers)


def _share_of(said: Any) -> Share:
    if isinstance(said, Mapping):
        kind = Atoms if "points" in said else Moments
        return kind(**said)
    return tuple(said) if isinstance(said, list) else said


def _moments(prior: Prior | Moments) -> tuple[Fraction, Fraction]:
    """Mean and mean square of a prior on shares."""
    if isinstance(prior, Moments):
        return Fraction(prior.mean), Fraction(prior.mean_square)
    if isinstance(prior, Atoms):
        weights = [Fraction(float(w)) for w in prior.weights]
        points = [Fraction(float(x)) for x in prior.points]
        total = sum(weights, Fraction(0))
        mean = sum((w * x for w, x in zip(weights, points, strict=True)), Fraction(0)) / total
        return mean, sum((w * x * x for w, x in zip(weights, points, strict=True)), Fraction(0)) / total
    cuts = np.unique([prior.domain.lower, *prior.breakpoints, prior.domain.upper])

    def moment(order: int) -> float:
        return integrate_between(lambda x: prior(x) * x**order, cuts)

    mass = moment(0)
    return Fraction(moment(1) / mass), Fraction(moment(2) / mass)
