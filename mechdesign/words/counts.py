"""Counts of users who hold a category: which share of them does, and what is small."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.panels import integrate_between
from mechdesign.values.declare import field, finite, frozen, option
from mechdesign.values.dyadic import dyadic
from mechdesign.words.priors import Atoms, Density, Prior

_ROUNDING = 1e-9
MOST_GROUP = 64
MOST_USERS = 5 * 10**8
"""The largest population: numpy draws hypergeometric numbers up to there."""

SHARE_OPTION = option("--share", "The share of users with a 1, or LEAST,MOST for the worst (0.1).")


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
        return cls(*map(float, moments_of(prior)))


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


def require_categories(categories: int) -> int:
    """A number of categories, or `InvalidInput`."""
    if isinstance(categories, bool) or not isinstance(categories, int | np.integer) or not 2 <= categories <= 10**6:
        raise InvalidInput("categories", categories, "be a whole number from 2 to 1000000")
    return int(categories)


def require_population(users: int, group: int) -> int:
    """A number of users that can be divided into groups, or `InvalidInput`."""
    if isinstance(users, bool) or not isinstance(users, int | np.integer) or not 2 <= users <= MOST_USERS:
        raise InvalidInput("users", users, f"be a whole number from 2 to {MOST_USERS}")
    if users % group:
        near = users - users % group or group
        raise InvalidInput("users", users, f"be a multiple of the group size {group}", f"for example {near}")
    return int(users)


def require_group(group: int) -> int:
    """A group size, or `InvalidInput`."""
    if isinstance(group, bool) or not isinstance(group, int | np.integer) or not 2 <= group <= MOST_GROUP:
        raise InvalidInput("group", group, f"be a whole number from 2 to {MOST_GROUP}")
    return int(group)


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


def share_words(share: Share, users: int) -> str:
    """Which share an estimate is good for."""
    if isinstance(share, float):
        return f"{count_of(share, users)} of them hold the value counted"
    if isinstance(share, tuple):
        return f"the worst share from {share[0]:g} to {share[1]:g}"
    mean, square = (float(moment) for moment in moments_of(share))
    return f"the mean over the prior on the share (mean {mean:.6g}, mean square {square:.6g})"


def count_of(share: Share, users: int) -> int | None:
    """The number of users that hold the value, if a share stands for one number."""
    return round(share * users) if isinstance(share, float) else None


def counts_of(share: tuple[float, float], users: int) -> tuple[int, int]:
    """The least and the most users that a range of shares stands for, or `InvalidInput` where it holds no number."""
    least, most = math.ceil(share[0] * users), math.floor(share[1] * users)
    if least > most:
        raise InvalidInput("share", share, f"hold a whole number of the {users} users", "widen the range")
    return least, most


@frozen
class Count:
    """A loss: the variance of the estimated number of users who hold a category, which a ``share`` of them does.

    ``share`` is a number, a range ``(least, most)`` whose worst is to be best, or a prior (or its `Moments`) under
    which the mean is. A density enters by its moments alone: they are what a design's problem holds.

    >>> Count((0.1, 0.3)).share
    (0.1, 0.3)
    """

    kind: ClassVar[str] = "count"

    share: Share = field(converter=as_share, metadata=SHARE_OPTION)

    @property
    def is_under_prior(self) -> bool:
        """Whether the mean over shares is small, and not one share or the worst."""
        return not isinstance(self.share, float | tuple)


def moments_of(prior: Prior | Moments) -> tuple[Fraction, Fraction]:
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
