"""The least of ``sum phi(t_i(y))`` over all of space, ``phi(t) = min(t, c t)``, where every t_i is a paraboloid.

``t_i(y) = p_i |y|^2 - 2 X_i.y + nu_i`` with ``p_i >= 0``, lengths and products weighted by axis. As phi is concave, on
a box where t_i lies between l and h it is above its chord there, ``alpha + beta t_i``: the sum of the chords is one
paraboloid, whose least value on a box is known. Where no t_i changes its sign the chords are phi itself: around a least
value boxes are exact as soon as they are small enough to lie on one side of every sphere, however narrow it is.

Boxes that are not above the level asked are cut in two. Beyond the first box the sum is above 0: with
``phi(a - b) >= a - c b`` for a, b >= 0 it is at least ``sum(p) r^2 - 2 c r sum|X_i| - c sum(-nu_i)+`` at distance r.

Doubles are rounded down by far more than they are off: every sum is of as many products as there are paraboloids, and
is lowered by twice that many roundings of the sum of their sizes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import float_up

Floats = NDArray[np.float64]

_LEVEL = 2.0**-30  # of the scale: the first level that is asked, if rounding is less
_SURE = 2.0**-46  # of the sizes of a paraboloid's few terms
_ROUNDED = 2.0**-52
_BATCH = 1 << 19  # doubles
_MOST_DOUBLES = 300_000_000  # of boxes times slopes
_FAR = 2.0  # times the distance that is enough


class Least(NamedTuple):
    """What a sum is at least, and places where it was seen to be below 0."""

    level: float
    places: Floats


def least_in_space(shares: Floats, slopes: Floats, levels: Floats, axes: Floats, ratio: Fraction) -> Least:
    """A number of at most 0 that ``sum phi(t_i)`` is nowhere below, or `CheckFailed` where doubles overflow.

    ``shares`` are the p_i, at least 0 with a sum of 1 up to rounding, ``slopes`` the X_i, one a row, ``levels`` the
    nu_i, ``axes`` the weights of the axes, above 0. The level is the first of -e, -2e, -4e, ... that is proven, where e
    is 2^-30 of ``sum |nu_i| + (sum |X_i|)^2`` unless rounding is more.

    >>> one = np.ones(1)
    >>> -6 > least_in_space(one, np.array([[2.0, 0.0]]), one, np.ones(2), Fraction(2)).level > -12  # 2 (1 - 2^2) = -6
    True
    """
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        found = _Space(shares, slopes, levels, axes, float_up(ratio)).least()
    if not math.isfinite(found.level):
        raise CheckFailed("the numbers of the evidence are too large to be decided")
    return found


class _Space:
    def __init__(self, shares: Floats, slopes: Floats, levels: Floats, axes: Floats, ratio: float) -> None:
        self.shares, self.slopes, self.levels, self.axes, self.ratio = shares, slopes, levels, axes, ratio
        self.vertices = np.where(slopes != 0, slopes / shares[:, None], 0.0)

    def least(self) -> Least:
        first = self._first()
        low, high = -first[None, :], first[None, :]
        level, left = -self._finest(), _MOST_DOUBLES // self.slopes.size
        below = []
        while True:
            proven, places, reached = (np.concatenate(parts) for parts in zip(*self._bounds(low, high), strict=True))
            below.append(places[reached < 0])
            while float(reached.min()) < level < 0:
                level *= 2
            left -= len(low)
            is_open = ~(proven >= level)
            if not np.isfinite(proven).all():  # a NaN is less than nothing: it would pass for proven
                return Least(-math.inf, np.concatenate(below))
            if not is_open.any() or left <= 0:
                return Least(min(level, float(proven.min())) if is_open.any() else level, np.concatenate(below))
            low, high = _halved(low[is_open], high[is_open])

    def _rounded(self) -> float:
        """Of the sum of all sizes: what rounding may take."""
        return (2 * len(self.shares) + 128) * _ROUNDED

    def _finest(self) -> float:
        scale = float(abs(self.levels).sum()) + self._length() * self._length()
        return max(1e-300, scale * max(_LEVEL, 4 * self.ratio * self._rounded()))

    def _length(self) -> float:
        return float(np.sqrt((self.slopes**2) @ self.axes).sum())

    def _first(self) -> Floats:
        """Half the sides of a box beyond which the sum is above 0."""
        along, below = self.ratio * self._length(), self.ratio * float(np.maximum(-self.levels, 0.0).sum())
        far = along + math.sqrt(along * along + below)  # a product that overflows is infinite, a power an error
        return np.asarray(_FAR * max(far, 1e-150) / np.sqrt(self.axes) / min(1.0, float(self.shares.sum())))

    def _bounds(self, low: Floats, high: Floats) -> Iterator[tuple[Floats, Floats, Floats]]:
        """What the sum is at least on each box, and what it is at one of its places."""
        step = max(1, _BATCH // self.slopes.size)
        for at in range(0, len(low), step):
            yield self._batch(low[at : at + step], high[at : at + step])

    def _batch(self, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
        far = np.maximum(abs(low), abs(high))
        sizes = self._values(far, -abs(self.slopes), abs(self.levels))
        a, b = low[:, None, :], high[:, None, :]
        least = self.levels + self._sums(np.clip(self.vertices, a, b)) - _SURE * sizes
        most = self.levels + np.maximum(self._by_axis(a), self._by_axis(b)) @ self.axes + _SURE * sizes
        chord = (self._phi(most) - self._phi(least)) / np.maximum(most - least, 1e-300)
        beta = np.clip(chord, 1.0, self.ratio)
        alpha = np.minimum(self._phi(least) - beta * least, self._phi(most) - beta * most)
        steep, slope = beta @ self.shares, beta @ self.slopes
        place = np.clip(slope / steep[:, None], low, high)
        found = (
            steep * (place**2 @ self.axes) - 2 * (place * slope) @ self.axes + (alpha + beta * self.levels).sum(axis=1)
        )
        lost = self._rounded() * (beta * sizes + abs(alpha)).sum(axis=1)
        seen = self._phi(self._values(place, self.slopes, self.levels)).sum(axis=1)
        return found - lost, place, seen

    def _phi(self, terms: Floats) -> Floats:
        return np.asarray(np.minimum(terms, self.ratio * terms))

    def _values(self, places: Floats, slopes: Floats, levels: Floats) -> Floats:
        """Of each paraboloid at each place."""
        heights = (places**2 @ self.axes)[:, None] * self.shares
        return np.asarray(heights - 2 * (places * self.axes) @ slopes.T + levels)

    def _by_axis(self, places: Floats) -> Floats:
        return np.asarray(places * (self.shares[:, None] * places - 2 * self.slopes))

    def _sums(self, places: Floats) -> Floats:
        return np.asarray(self._by_axis(places) @ self.axes)


def _halved(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Boxes cut in two across the longest side."""
    every = np.arange(len(low))
    longest = np.argmax(high - low, axis=1)
    middle = (low[every, longest] + high[every, longest]) / 2
    until, since = high.copy(), low.copy()
    until[every, longest] = since[every, longest] = middle
    return np.concatenate([low, since]), np.concatenate([until, high])
