"""Laws of given means between a base measure and a multiple of it: an interior-point method that knows their structure.

With a base measure mu and the extra mass e on it, ``q_x(y) = mu(y) + e_x(y)`` and ``0 <= e_x <= (c - 1) mu``:

    minimise ``sum_x p_x sum_y ((y - x)^2 + v_y) q_x(y)``  subject to  ``sum_y q_x = 1``, ``sum_y (y - x) q_x = 0``.

A column y stands for outputs with mean y and variance v_y. The program has ``n m`` variables, but the Newton system of
a primal-dual method couples the laws through mu only: eliminating e and mu leaves one value and one slope for each law,
``2 n`` unknowns. A step costs ``O(m n^2)``, and values and slopes are the quadratics of proofs. General solvers see
none of this, and cutting planes over mu need thousands of cuts where the optimum has many outputs.

Where means, weights and columns are their own mirror images so is some optimum, as the program is convex: then laws of
means above 0 stand for both, and a column and its image share one base. A step costs an eighth.

The start is feasible on both sides and each iterate stays so: stopping early costs accuracy, never validity.

The systems have a few hundred unknowns: more than one thread of BLAS gains nothing on them, and on a busy machine
threads that wait for each other cost much. Callers limit them to one (`threadpoolctl.threadpool_limits`) for a search.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

Floats = NDArray[np.float64]

_MOST_STEPS = 300
_BACK_OFF = 0.99  # of the way to the boundary
_SHORT = 0.3  # a step this short means that the corrector led astray
_PULLS = (0.3, 0.8)  # towards the centre instead
_JITTER = 1e-14
_ROUNDING = 1e-14
_USUAL_ENDS, _USUAL_PULL = 0.6, 0.8  # of the base of the start, at the two outer columns; of its extra, tilted


@dataclass(frozen=True, slots=True, eq=False)
class LawsOptimum:
    """Base measure on the columns, value and slope of each law, and the bounds they give on these columns.

    The quadratic of a law is ``p (y - x)^2 - slope (y - x) - value``.
    """

    base: Floats
    values: Floats
    slopes: Floats
    upper: float
    lower: float
    steps: int


def solve_laws(
    means: Floats,
    weights: Floats,
    ratio: float,
    places: Floats,
    gap: float,
    deadline: float | None = None,
    spreads: Floats | None = None,
) -> LawsOptimum:
    """The optimum on these columns to a relative ``gap``, or as near as steps, rounding and the deadline allow.

    Columns have means ``places``, which increase from ``-r`` to ``r``, and variances ``spreads`` (0 if left out). There
    are no such laws unless ``r > (c + 1) / (c - 1)`` times the largest mean. ``deadline`` is a reading of
    `time.perf_counter`.

    >>> optimum = solve_laws(np.array([-1.0, 1.0]), np.array([0.5, 0.5]), 3.0, np.linspace(-4, 4, 9), 1e-9)
    >>> round(optimum.upper, 6)  # at most (2^2 - 1), with all mass at -2 and 2
    3.0
    """
    scale = float(places[-1])
    columns = np.zeros(places.size) if spreads is None else spreads / scale**2
    is_mirrored = _is_mirrored(means, weights, places, columns)
    start = _first_base(float(np.abs(means).max()) / scale, ratio, places / scale)
    if is_mirrored:
        kept = slice(means.size // 2, None)
        both = 2 * weights[kept]
        if means.size % 2:
            both[0] /= 2  # the mean 0 is its own image
        point = _InteriorPoint(means[kept] / scale, both, ratio, places / scale, columns, _Pairs(places.size), start)
    else:
        point = _InteriorPoint(means / scale, weights, ratio, places / scale, columns, _Alone(), start)
    steps, end = 0, math.inf if deadline is None else deadline
    while steps < _MOST_STEPS and point.gap > gap * point.upper and time.perf_counter() < end:
        try:
            with np.errstate(all="raise", under="ignore"):
                point.step()
        except (np.linalg.LinAlgError, FloatingPointError, ValueError):  # as far as doubles go
            break
        steps += 1
    square = scale * scale
    values, slopes = point.values * square, point.slopes * scale
    if is_mirrored:
        values, slopes = _unfolded(values, slopes, means.size)
    return LawsOptimum(point.base, values, slopes, point.upper * square, point.lower * square, steps)


def _is_mirrored(means: Floats, weights: Floats, places: Floats, spreads: Floats) -> bool:
    """Whether all is its own mirror image: means, which are differences of others, up to rounding."""
    return bool(
        means.size > 1
        and np.abs(means + means[::-1]).max() <= _ROUNDING * np.abs(means).max()
        and np.array_equal(weights, weights[::-1])
        and np.array_equal(places, -places[::-1])
        and np.array_equal(spreads, spreads[::-1])
    )


def _unfolded(values: Floats, slopes: Floats, count: int) -> tuple[Floats, Floats]:
    """Values and slopes of all laws from those of the upper half, which stood for two each."""
    half = np.full(values.size, 0.5)
    if count % 2:
        half[0], slopes = 1.0, np.concatenate([[0.0], slopes[1:]])
    own, tilt = half * values, half * slopes
    below = slice(None, 0 if count % 2 else None, -1)
    return np.concatenate([own[below], own]), np.concatenate([-tilt[below], tilt])


class _Alone:
    """Every column has a base of its own."""

    def joined(self, of_columns: Floats) -> Floats:
        return of_columns

    def apart(self, of_bases: Floats) -> Floats:
        return of_bases


class _Pairs:
    """A column and its mirror image have one base."""

    def __init__(self, columns: int) -> None:
        self.columns, self.half = columns, (columns + 1) // 2

    def joined(self, of_columns: Floats) -> Floats:
        """Sums over the columns of each base; the one in the middle has no image."""
        both = of_columns[: self.half] + of_columns[::-1][: self.half]
        if self.columns % 2:
            both[-1] = of_columns[self.half - 1]
        return both

    def apart(self, of_bases: Floats) -> Floats:
        """What each column has of its base."""
        return np.concatenate([of_bases, of_bases[: self.columns - self.half][::-1]])


class _Direction(NamedTuple):
    multipliers: Floats
    base: Floats
    extra: Floats
    room: Floats
    at_base: Floats
    at_top: Floats


class _InteriorPoint:
    """An iterate: ``base, extra, room`` with ``extra + room = (c-1) base``; ``values, slopes, at_base, at_top``."""

    def __init__(
        self,
        means: Floats,
        weights: Floats,
        ratio: float,
        places: Floats,
        spreads: Floats,
        bases: _Alone | _Pairs,
        start: Floats,
    ) -> None:
        self.gain, self.bases, self.base = ratio - 1, bases, start
        self.distances = places[None, :] - means[:, None]
        self.costs = weights[:, None] * (self.distances**2 + spreads)
        # half of every law is extra, tilted to its mean
        tilts = means / (self.gain * (self.base @ places**2))
        self.extra = self.gain * self.base * (0.5 + tilts[:, None] * places)
        self.room = self.gain * self.base - self.extra
        # values below zero keep all multipliers above it, even where a column costs nothing
        count = means.size
        least = float((weights[:, None] * self.distances**2).mean())
        self.values, self.slopes = np.full(count, -least), np.zeros(count)
        self.quadratics = self.costs - self.values[:, None]
        shared = bases.joined(self.quadratics.sum(axis=0)) / bases.joined(np.ones(places.size))
        self.at_top = np.repeat(bases.apart(shared)[None, :] / (self.gain * count), count, axis=0)
        self.at_base = self.quadratics + self.at_top

    @property
    def gap(self) -> float:
        return _dot(self.extra, self.at_base) + _dot(self.room, self.at_top)

    @property
    def upper(self) -> float:
        return float(np.sum(self.costs * (self.base + self.extra)))

    @property
    def lower(self) -> float:
        return float(self.values.sum())

    def step(self) -> None:
        """One predictor-corrector step (Mehrotra), or a pull to the centre where that is too short."""
        gap = self.gap
        target = gap / (2 * self.extra.size)
        newton = _Newton(self)
        nothing = np.zeros_like(self.extra)
        ahead = newton.direction(nothing, nothing)
        primal, dual = self._lengths(ahead)
        left = _dot(self.extra + primal * ahead.extra, self.at_base + dual * ahead.at_base)
        left += _dot(self.room + primal * ahead.room, self.at_top + dual * ahead.at_top)
        pull = max((left / gap) ** 3, 1e-6)
        trust = primal * dual
        best = newton.direction(
            pull * target - trust * ahead.extra * ahead.at_base, pull * target - trust * ahead.room * ahead.at_top
        )
        primal, dual = self._lengths(best)
        if min(primal, dual) < _SHORT:
            for other in _PULLS:
                centred = newton.direction(nothing + other * target, nothing + other * target)
                lengths = self._lengths(centred)
                if min(lengths) * (1 - other) > min(primal, dual) * (1 - pull):
                    best, pull, (primal, dual) = centred, other, lengths
        self._move(best, min(1.0, _BACK_OFF * primal), min(1.0, _BACK_OFF * dual))

    def _lengths(self, direction: _Direction) -> tuple[float, float]:
        """How far the primal and the dual part may go before a variable turns negative."""
        return (
            min(_length(self.extra, direction.extra), _length(self.room, direction.room)),
            min(_length(self.at_base, direction.at_base), _length(self.at_top, direction.at_top)),
        )

    def _move(self, direction: _Direction, primal: float, dual: float) -> None:
        count = self.values.size
        self.base = self.base + primal * direction.base
        self.extra = self.extra + primal * direction.extra
        self.room = self.room + primal * direction.room
        self.values = self.values + dual * direction.multipliers[:count]
        self.slopes = self.slopes + dual * direction.multipliers[count:]
        self.at_base = self.at_base + dual * direction.at_base
        self.at_top = self.at_top + dual * direction.at_top
        self.quadratics = self.costs - self.values[:, None] - self.slopes[:, None] * self.distances


def _first_base(farthest: float, ratio: float, places: Floats) -> Floats:
    """A base with half its mass free and so much of it at the two outer columns that a tilt reaches all means.

    The second moment of the base decides how much tilt that takes; where columns reach far little at the ends will do.
    """
    tilt = farthest * (ratio + 1) / (ratio - 1)
    pull = max(_USUAL_PULL, (1 + tilt) / 2)
    inner = float(places @ places) / places.size
    ends = min(max((tilt / pull - inner) / (1 - inner), _USUAL_ENDS), 1 - 1e-9)
    base = np.full(places.size, (1 - ends) / places.size)
    base[[0, -1]] += ends / 2
    return np.asarray(base * (2 / (1 + ratio)))


class _Newton:
    """The Newton system at an iterate, reduced to values and slopes and factorised once for all right-hand sides."""

    def __init__(self, at: _InteriorPoint) -> None:
        self.at = at
        gain, far = at.gain, at.distances
        count = far.shape[0]
        self.top, self.low = at.at_top / at.room, at.at_base / at.extra
        self.ease = 1 / (self.low + self.top)
        answer = 1 + gain * self.top * self.ease  # of the law to one more unit of base
        self.coupling = at.bases.joined(np.concatenate([answer, answer * far]).T)
        self.stiffness = at.bases.joined(gain * gain * np.sum(self.top * self.low * self.ease, axis=0))
        columns = self.coupling / np.sqrt(self.stiffness)[:, None]
        system = columns.T @ columns
        here = np.arange(count)
        system[here, here] += self.ease.sum(axis=1)
        across = np.sum(self.ease * far, axis=1)
        system[here, count + here] += across
        system[count + here, here] += across
        system[count + here, count + here] += np.sum(self.ease * far * far, axis=1)
        self.units = 1 / np.sqrt(np.diag(system))
        system *= self.units[:, None] * self.units
        system[np.diag_indices(2 * count)] += _JITTER
        self.factor = cho_factor(system, lower=True, overwrite_a=True)
        laws = at.base + at.extra
        self.missing = np.concatenate([1 - laws.sum(axis=1), -np.sum(far * laws, axis=1)])

    def direction(self, base_target: Floats, top_target: Floats) -> _Direction:
        """Towards ``extra * at_base = base_target`` and ``room * at_top = top_target``."""
        at, gain, far, count = self.at, self.at.gain, self.at.distances, self.at.values.size
        at_top = top_target / at.room
        push = base_target / at.extra - at_top - at.quadratics
        eased = self.ease * push
        on_base = at.bases.joined(np.sum(gain * (at_top + self.top * eased) - at.quadratics, axis=0))
        on_laws = self.missing - np.concatenate([eased.sum(axis=1), np.sum(far * eased, axis=1)])
        right = on_laws - np.einsum("yk,y->k", self.coupling, on_base / self.stiffness)
        multipliers = self.units * cho_solve(self.factor, self.units * right)
        base = at.bases.apart((on_base + np.einsum("yk,k->y", self.coupling, multipliers)) / self.stiffness)
        lift = multipliers[:count, None] + multipliers[count:, None] * far
        extra = eased + self.ease * (lift + gain * self.top * base)
        room = gain * base - extra
        return _Direction(
            multipliers,
            base,
            extra,
            room,
            base_target / at.extra - at.at_base - self.low * extra,
            at_top - at.at_top - self.top * room,
        )


def _dot(one: Floats, other: Floats) -> float:
    return float(np.einsum("xy,xy->", one, other))


def _length(values: Floats, change: Floats) -> float:
    """The largest step up to 1 that keeps ``values + step * change`` at least 0."""
    return min(1.0, 1 / max(float(np.max(-change / values)), 1e-300))
