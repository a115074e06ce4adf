"""Planar Laplace noise as a rival: its expected loss as it is, with reports moved to the nearest place, and remapped.

Planar Laplace (Andrés, Bordenabe, Chatzikokolakis, Palamidessi 2013) has the density ``rate^2 / (2 pi) e^(-rate |u|)``.
As it is it loses ``2 / rate``, or ``6 / rate^2`` squared. The others are enclosed, in units of ``1 / rate``, by squares
of side h. With r the distance from the input to the middle of a square, the mean of ``e^-|u|`` over it is at least
``e^-sqrt(r^2 + h^2 / 6)`` (Jensen, twice) and at most ``e^-r sinh(a) sinh(b) / (a b)``, a and b half of h times the
cosines of the direction (as ``|u|`` is at least its part along it). Beyond all squares is a mass of at most
``(1 + R) e^-R``, at the largest loss.

*To the nearest place.* Of a square with middle m whose nearest place is n another place p gets reports only if
``|m - p|^2 - |m - n|^2 <= h |p - n|_1``. Where there are several the least and the largest of their losses count.

*Remapped.* A remap that takes each square as a whole loses no less than that of the reports themselves: more by what
another place z saves somewhere in a square over the square's own z*. With ``f_x`` the density at the middle, which
elsewhere is ``f_x e^-s`` to ``f_x e^s``, s half of the diagonal, and ``d_x`` the loss at z* less that at z, that is at
most ``sum_x w_x f_x (d_x + (e^s - 1) |d_x|)`` times the area.

Squares that leave the most in doubt are cut into four. What doubles round is far less than the ends are moved outward
by, a share of ``2^-28``: a sum of N terms of at least 0 is off by a share of N 2^-53, places by their span times 2^-51.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.exact.rational import float_down, float_up
from mechdesign.methods.pairwise.rivals import REMAPPED, Measured
from mechdesign.values.declare import frozen
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.places import EUCLIDEAN
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

LAPLACE = "planar Laplace"
_FINEST, _COARSEST = 0.1, 1.0  # sides of squares before they are cut
_STEPS = 1024  # to the unit: middles of squares are doubles without rounding
_REACH = 18.0  # beyond the places: what lies further has mass 3e-7
_MOST_PRODUCTS = 2_000_000  # places times squares, at first
_ROUNDS, _PER_ROUND = 4, 600_000
_CHUNK = 500_000
_NARROW = 2e-3
_SURE = 2.0**-28
_LARGEST_SPAN = 2.0**20
_UNSEEN = 700.0  # e^-700 and less may be no normal double
_NEARLY = 2.0**-45


def planar_laplace(problem: Problem) -> tuple[Measured, ...]:
    """Planar Laplace noise as it is, with reports moved to the nearest output, and remapped; empty off the plane.

    *Guarantee.* The expected losses lie between the ends. Where places are too many and too far apart for that only
    the first is told.

    >>> problem = Problem(loss=Distances(), privacy=Metric([(0, 0), (1, 0)], 2.0))
    >>> planar_laplace(problem)[0]
    Measured(name='planar Laplace', lower=1.0, upper=1.0)
    """
    privacy, loss = problem.privacy, problem.loss
    if not isinstance(privacy, Metric) or not isinstance(loss, Distances):
        return ()
    if privacy.distance != EUCLIDEAN or privacy.points.shape[1] != 2:
        return ()
    rate = Fraction(privacy.per_unit)
    exact = 2 / rate if loss.exponent == 1 else 6 / rate**2
    found = [Measured(LAPLACE, float_down(exact), float_up(exact))]
    plane = Plane.of(problem)
    if plane is None:
        return tuple(found)
    found.append(Measured(f"{LAPLACE}, to the nearest place", *_enclosed(plane, plane.nearest)))
    if problem.weights is not None:
        found.append(Measured(LAPLACE + REMAPPED, *_enclosed(plane, plane.remapped)))
    return tuple(found)


Ends = tuple[Floats, Floats]
"""At least and at most, for each square and each input, or for each square where the prior averages."""


@frozen
class Plane:
    """Inputs and outputs in units of the noise, seen from the lower corner of the squares, of ``side`` at first.

    ``losses`` are rounded up, by a share that is far less than the ends are moved outward by.
    """

    inputs: Floats
    outputs: Floats
    losses: Floats
    weights: Floats | None
    side: float
    counts: tuple[int, int]

    @classmethod
    def of(cls, problem: Problem) -> Plane | None:
        """None where squares would be too many."""
        privacy, places = problem.privacy, problem.table.places
        assert isinstance(privacy, Metric)
        assert places is not None
        rate, low = privacy.per_unit, privacy.points.min(axis=0)
        inputs = rate * (privacy.points - low) + _REACH
        outputs = rate * (places - low) + _REACH
        span = inputs.max(axis=0) + _REACH
        if max(span.max(), np.abs(outputs).max()) > _LARGEST_SPAN:
            return None
        largest = max(len(inputs), len(outputs))
        finest = max(_FINEST, math.sqrt(float(np.prod(span)) * largest / _MOST_PRODUCTS))
        side = math.ceil(finest * _STEPS) / _STEPS
        if side > _COARSEST:
            return None
        wide, high = (math.ceil(part / side) for part in span.tolist())
        weights = None if problem.weights is None else problem.weights / problem.weights.sum()
        return cls(inputs, outputs, problem.table.up, weights, side, (wide, high))

    @property
    def squares(self) -> Floats:
        """Their middles."""
        parts = np.meshgrid(*((np.arange(count) + 0.5) * self.side for count in self.counts), indexing="ij")
        return np.stack([part.ravel() for part in parts], axis=1)

    def nearest(self, middles: Floats, side: float) -> Ends:
        """What is lost to reports in each square if they are moved to the nearest output."""
        squares = _squares(middles, self.outputs)
        first = squares.argmin(axis=1)
        ahead = squares - squares[np.arange(len(middles)), first][:, None]
        across = sum(np.abs(np.subtract.outer(part, part)) for part in self.outputs.T)[first]
        square, output = np.nonzero(ahead <= side * across + _NEARLY * (1 + squares.max()))
        starts = np.searchsorted(square, np.arange(len(middles)))
        least, most = masses(self.inputs, middles, side)
        low = least * np.minimum.reduceat(self.losses[:, output], starts, axis=1)
        high = most * np.maximum.reduceat(self.losses[:, output], starts, axis=1)
        return (low, high) if self.weights is None else (self.weights @ low, self.weights @ high)

    def remapped(self, middles: Floats, side: float) -> Ends:
        """What is lost to reports in each square if they are moved to the best output under the prior."""
        assert self.weights is not None
        least, most = (self.weights * part.T for part in masses(self.inputs, middles, side))
        middle = self.weights * np.exp(-np.minimum(_apart(self.inputs, middles), _UNSEEN)).T * _density(side)
        lost = middle @ self.losses
        own = lost.argmin(axis=1)
        saved = np.zeros(len(middles))
        spread = math.expm1(side / math.sqrt(2))
        for output in np.unique(own).tolist():
            at = own == output
            over = np.abs(self.losses[:, [output]] - self.losses)
            gain = lost[at, output][:, None] - lost[at] + spread * (middle[at] @ over)
            gain[:, output] = 0.0
            saved[at] = gain.max(axis=1)
        low = (least * self.losses[:, own].T).sum(axis=1)
        floor = math.exp(-side / math.sqrt(2)) * lost.min(axis=1)
        return np.maximum(low - saved, floor), (most * self.losses[:, own].T).sum(axis=1)


def _enclosed(plane: Plane, ends_of: Callable[[Floats, float], Ends]) -> tuple[float, float]:
    """Sums over all squares, those with the most doubt cut into four again and again."""
    squares, side = plane.squares, plane.side
    largest = max(plane.losses.shape)
    low, high = _summed(plane, ends_of, squares, side)
    done_low, done_high = np.zeros(low.shape[:-1]), np.zeros(high.shape[:-1])
    for _ in range(_ROUNDS):
        if not _is_wide(done_low + low.sum(axis=-1), done_high + high.sum(axis=-1)):
            break
        doubt = np.atleast_2d(high - low).max(axis=0)
        count = min(len(squares), _PER_ROUND // (4 * largest))
        cut = np.zeros(len(squares), dtype=bool)
        cut[np.argpartition(-doubt, count - 1)[:count]] = True
        done_low += low[..., ~cut].sum(axis=-1)
        done_high += high[..., ~cut].sum(axis=-1)
        corners = np.array([(-1, -1), (-1, 1), (1, -1), (1, 1)]) * side / 4
        squares, side = (squares[cut][:, None, :] + corners).reshape(-1, 2), side / 2
        low, high = _summed(plane, ends_of, squares, side)
    beyond = (1 + _REACH) * math.exp(-_REACH)
    least, most = done_low + low.sum(axis=-1), done_high + high.sum(axis=-1)
    farthest = float(plane.losses.max())
    lower = float(least.max()) * (1 - _SURE) - _SURE * farthest
    upper = (float(most.max()) + beyond * farthest) * (1 + _SURE)
    return max(0.0, lower), upper


def _is_wide(low: Floats, high: Floats) -> bool:
    return bool(np.max(high) - np.max(low) > _NARROW * np.max(high))


def _summed(plane: Plane, ends_of: Callable[[Floats, float], Ends], squares: Floats, side: float) -> Ends:
    """The ends of many squares, some at a time."""
    parts = max(1, math.ceil(len(squares) * max(plane.losses.shape) / _CHUNK))
    ends = [ends_of(part, side) for part in np.array_split(squares, parts)]
    return np.concatenate([low for low, _ in ends], axis=-1), np.concatenate([high for _, high in ends], axis=-1)


def masses(inputs: Floats, middles: Floats, side: float) -> Ends:
    """What noise of rate 1 around every input gives to squares with these middles: at least, and at most.

    >>> middles = np.array([(0.1 * i, 0.1 * k) for i in range(-100, 101) for k in range(-100, 101)])
    >>> low, high = masses(np.zeros((1, 2)), middles, 0.1)
    >>> bool(low.sum() < 1 - 4e-4 < high.sum()), bool(high.sum() - low.sum() < 2e-3)
    (True, True)
    """
    apart = _apart(inputs, middles)
    scale = _density(side)
    root = np.sqrt(apart**2 + side**2 / 6)
    low = np.where(root < _UNSEEN, scale * np.exp(-np.minimum(root, _UNSEEN)), 0.0)
    high = scale * np.exp(-np.minimum(apart, _UNSEEN))
    for part in range(2):
        gap = middles[:, part] - inputs[:, part, None]
        cosine = np.divide(gap, apart, out=np.zeros_like(gap), where=apart > 0)
        high *= _sinhc(cosine * (side / 2))
    return low, high


def _apart(inputs: Floats, middles: Floats) -> Floats:
    return np.asarray(np.sqrt(_squares(inputs, middles)))


def _squares(points: Floats, others: Floats) -> Floats:
    return np.square(np.subtract.outer(points[:, 0], others[:, 0])) + np.square(
        np.subtract.outer(points[:, 1], others[:, 1])
    )


def _density(side: float) -> float:
    return side**2 / (2 * math.pi)


def _sinhc(values: Floats) -> Floats:
    """At least ``sinh(v) / v`` up to 1/2: its series is below ``1 + v^2 / 6 + v^4 / 119``.

    >>> bool((_sinhc(np.array([0.25, 0.5])) >= np.sinh([0.25, 0.5]) / [0.25, 0.5]).all())
    True
    """
    squares = values**2
    return np.asarray(1 + squares * (1 / 6 + squares / 119))
