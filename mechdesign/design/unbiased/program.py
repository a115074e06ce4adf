"""The linear program of the unbiased optimum on given outputs, by an interior-point method that knows its structure.

With a base measure mu and the extra mass e on it, ``q(y|x) = mu(y) + e_x(y)`` and ``0 <= e_x <= (c - 1) mu``:

    minimise ``sum_x p_x sum_y (y - x)^2 q(y|x)``  subject to  ``sum_y q(y|x) = 1``, ``sum_y (y - x) q(y|x) = 0``.

It has ``n m`` variables, but the Newton system of a primal-dual method couples the inputs through mu only: eliminating
e and mu leaves one value and one slope for each input, ``2 n`` unknowns. A step costs ``O(m n^2)``, and the value and
slope of each input are the quadratic of the proof (`mechdesign.design.unbiased.proof`). General solvers see none of
this, and the cutting planes over mu need thousands of cuts where the optimum has many outputs.

The start is feasible on both sides and each iterate stays so: stopping early costs accuracy, never validity.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.unbiased.tiles import Cholesky, gram

Floats = NDArray[np.float64]

REACH = 2.2
"""Outputs must reach this many times ``coth(eps / 2)``, or the start would not be unbiased."""

_MOST_STEPS = 300
_BACK_OFF = 0.99  # of the way to the boundary
_SHORT = 0.3  # a step this short means that the corrector led astray
_PULLS = (0.3, 0.8)  # towards the centre instead
_JITTER = 1e-14


@dataclass(frozen=True, slots=True)
class Optimum:
    """Base measure on the outputs, value and slope of each input, and the bounds they give on these outputs.

    The quadratic of an input is ``p (y - x)^2 - slope (y - x) - value``.
    """

    base: Floats
    values: Floats
    slopes: Floats
    upper: float
    lower: float
    steps: int

    def quadratics(self, weights: Floats) -> tuple[Floats, Floats]:
        """Offset b and slope s with ``p h^2 - slope h - value = (h - b)(p h + s)``, b being the root of least size."""
        root = np.sqrt(np.maximum(self.slopes**2 + 4 * weights * self.values, 0.0))
        far = (self.slopes + np.copysign(root, self.slopes)) / 2  # p times the other root: nothing cancels
        offsets = np.divide(-self.values, far, out=np.zeros_like(far), where=far != 0)
        return offsets, -far


def solve(
    inputs: Floats, weights: Floats, ratio: float, outputs: Floats, gap: float, deadline: float = math.inf
) -> Optimum:
    """The optimum on these outputs to a relative ``gap``, or as near as steps, rounding and the deadline allow.

    Inputs lie in [-1, 1]; outputs increase from ``-r`` to ``r`` with ``r >= REACH coth(eps / 2)``.
    """
    scale = float(outputs[-1])
    point = InteriorPoint(inputs / scale, weights, ratio, outputs / scale)
    steps = 0
    while steps < _MOST_STEPS and point.gap > gap * point.upper and time.perf_counter() < deadline:
        try:
            with np.errstate(all="raise", under="ignore"):
                point.step()
        except (np.linalg.LinAlgError, FloatingPointError, ValueError):  # as far as doubles go
            break
        steps += 1
    square = scale * scale
    return Optimum(
        point.base, point.values * square, point.slopes * scale, point.upper * square, point.lower * square, steps
    )


class _Direction(NamedTuple):
    multipliers: Floats
    base: Floats
    extra: Floats
    room: Floats
    at_base: Floats
    at_top: Floats


class InteriorPoint:
    """An iterate: ``base, extra, room`` with ``extra + room = (c-1) base``; ``values, slopes, at_base, at_top``."""

    def __init__(self, inputs: Floats, weights: Floats, ratio: float, outputs: Floats) -> None:
        self.gain = ratio - 1
        self.distances = outputs[None, :] - inputs[:, None]
        self.costs = weights[:, None] * self.distances**2
        count, size = self.distances.shape
        # half of every law is extra; most of the base is at the ends, so that a tilt of the extra reaches all means
        base = np.full(size, 0.4 / size)
        base[[0, -1]] += 0.3
        self.base = base * (2 / (1 + ratio))
        tilts = inputs / (self.gain * (self.base @ outputs**2))
        self.extra = self.gain * self.base * (0.5 + tilts[:, None] * outputs)
        self.room = self.gain * self.base - self.extra
        # values below zero keep all multipliers above it, even where an output costs nothing
        self.values, self.slopes = np.full(count, -float(self.costs.mean())), np.zeros(count)
        self.quadratics = self.costs - self.values[:, None]
        self.at_top = np.repeat(self.quadratics.sum(axis=0)[None, :] / (self.gain * count), count, axis=0)
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


class _Newton:
    """The Newton system at an iterate, reduced to values and slopes and factorised once for all right-hand sides."""

    def __init__(self, at: InteriorPoint) -> None:
        self.at = at
        gain, far = at.gain, at.distances
        count = far.shape[0]
        self.top, self.low = at.at_top / at.room, at.at_base / at.extra
        self.ease = 1 / (self.low + self.top)
        answer = 1 + gain * self.top * self.ease  # of the law to one more unit of base
        self.coupling = np.concatenate([answer, answer * far]).T
        self.stiffness = gain * gain * np.sum(self.top * self.low * self.ease, axis=0)
        system = gram(self.coupling / np.sqrt(self.stiffness)[:, None])
        here = np.arange(count)
        system[here, here] += self.ease.sum(axis=1)
        across = np.sum(self.ease * far, axis=1)
        system[here, count + here] += across
        system[count + here, here] += across
        system[count + here, count + here] += np.sum(self.ease * far * far, axis=1)
        self.units = 1 / np.sqrt(np.diag(system))
        system *= self.units[:, None] * self.units
        system[np.diag_indices(2 * count)] += _JITTER
        self.factor = Cholesky(system)
        laws = at.base + at.extra
        self.missing = np.concatenate([1 - laws.sum(axis=1), -np.sum(far * laws, axis=1)])

    def direction(self, base_target: Floats, top_target: Floats) -> _Direction:
        """Towards ``extra * at_base = base_target`` and ``room * at_top = top_target``."""
        at, gain, far, count = self.at, self.at.gain, self.at.distances, self.at.values.size
        at_top = top_target / at.room
        push = base_target / at.extra - at_top - at.quadratics
        eased = self.ease * push
        on_base = np.sum(gain * (at_top + self.top * eased) - at.quadratics, axis=0)
        on_laws = self.missing - np.concatenate([eased.sum(axis=1), np.sum(far * eased, axis=1)])
        right = on_laws - np.einsum("yk,y->k", self.coupling, on_base / self.stiffness)
        multipliers = self.units * self.factor.solve(self.units * right)
        base = (on_base + np.einsum("yk,k->y", self.coupling, multipliers)) / self.stiffness
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
