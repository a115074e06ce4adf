"""What was read of a custom problem, as coefficients; and its program in CVXPY, whose multipliers are a proof."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechdesign.methods.convex.reading import Affine, Term
from mechdesign.values.declare import Floats
from mechdesign.words.objectives import Coefficients, Formula, Objective


class Bent:
    """The program of coefficients with maxima, squares and norms: a variable above each maximum and each norm.

    The objective is in units of ``2^exponent``.
    """

    def __init__(self, cvxpy: Any, q: Any, read: Coefficients, exponent: int) -> None:
        self._read = read
        entries = cvxpy.vec(q, order="F")
        count = len(read.equal) + 1
        scale = [math.ldexp(1.0, -exponent), *[1.0] * (count - 1)]
        sides: list[list[Any]] = [[] for _ in range(count)]
        for number, costs in enumerate((read.costs, *read.rows)):
            sides[number].append(scale[number] * _row(costs) @ entries)
        self._tops: list[Any] = []
        if read.maxima:
            greatest = cvxpy.Variable(len(read.of_maxima))
            units = np.array([scale[read.of_maxima[number]] for number in read.maxima])
            pieces = np.stack([_row(piece) for piece in read.pieces]) * units[:, None]
            self._tops = [pieces @ entries + read.shifts * units <= greatest[list(read.maxima)]]
            for number, of in enumerate(read.of_maxima):
                sides[of].append(greatest[number])
        self._cones: list[Any] = []
        if read.norms:
            longest = cvxpy.Variable(len(read.of_norms))
            units = np.array([scale[read.of_norms[number]] for number in read.norms])
            found = (np.stack([_row(side) for side in read.sides]) * units[:, None]) @ entries + read.ends * units
            own = [np.flatnonzero(np.equal(read.norms, number)) for number in range(len(read.of_norms))]
            self._cones = [cvxpy.SOC(longest[number], found[places]) for number, places in enumerate(own)]
            for number, of in enumerate(read.of_norms):
                sides[of].append(longest[number])
        self._below = [
            _row(square) @ entries + c for square, c in zip(read.squares, read.centres.tolist(), strict=True)
        ]
        for of, below, times in zip(read.of_squares, self._below, read.scales.tolist(), strict=True):
            sides[of].append(scale[of] * times * cvxpy.square(below))
        objective, *left = [sum(side[1:], side[0]) for side in sides]
        self.objective = objective
        self.limits = [
            side == limit if is_equal else side <= limit
            for side, limit, is_equal in zip(left, read.limits.tolist(), read.equal, strict=True)
        ]

    @property
    def constraints(self) -> list[Any]:
        return [*self.limits, *self._tops, *self._cones]

    @property
    def weights(self) -> Floats:
        """The multipliers of pieces; those of a maximum that has none are alike."""
        if not self._tops:
            return np.empty(0)
        found = np.maximum(np.ravel(np.asarray(self._tops[0].dual_value, dtype=np.float64)), 0.0)
        sums = np.bincount(self._read.maxima, weights=found)
        return np.where(sums[list(self._read.maxima)] > 0, found, 1.0)

    @property
    def slopes(self) -> Floats:
        return np.array([float(below.value) for below in self._below])

    @property
    def directions(self) -> Floats:
        """What the multipliers of norms say of the way in which each grows; 0 for those that do not count."""
        found, counted = np.zeros(len(self._read.norms)), np.zeros(len(self._cones), dtype=np.intp)
        duals = [(float(np.ravel(top)[0]), np.ravel(vector)) for top, vector in (c.dual_value for c in self._cones)]
        for place, number in enumerate(self._read.norms):
            top, vector = duals[number]
            found[place] = -vector[counted[number]] / top if top > 0 else 0.0
            counted[number] += 1
        return found


def _row(costs: Floats) -> Floats:
    """Entries in CVXPY's (column-major) order."""
    return np.ravel(costs, order="F")


def coefficients_of(terms: list[Term], equal: tuple[bool, ...], shape: tuple[int, int]) -> Coefficients:
    """The objective and the left sides of constraints as data."""
    objective, *left = terms
    maxima = [(pieces, number) for number, term in enumerate(terms) for pieces in term.maxima]
    squares = [(scale, one, number) for number, term in enumerate(terms) for scale, one in term.squares]
    pieces = [(piece, number) for number, (found, _) in enumerate(maxima) for piece in found]
    norms = [(entries, number) for number, term in enumerate(terms) for entries in term.norms]
    sides = [(entry, number) for number, (found, _) in enumerate(norms) for entry in found]
    return Coefficients(
        objective.affine.costs,
        objective.affine.offset,
        *_stacked([term.affine for term in left], shape, -1.0),
        equal,
        *_stacked([piece for piece, _ in pieces], shape),
        tuple(number for _, number in pieces),
        tuple(number for _, number in maxima),
        *_stacked([one for _, one, _ in squares], shape),
        np.array([scale for scale, _, _ in squares]),
        tuple(number for _, _, number in squares),
        *_stacked([entry for entry, _ in sides], shape),
        tuple(number for _, number in sides),
        tuple(number for _, number in norms),
    )


def _stacked(parts: list[Affine], shape: tuple[int, int], sign: float = 1.0) -> tuple[Floats, Floats]:
    """The matrices of affine functions, and ``sign`` times their offsets."""
    matrices = np.stack([part.costs for part in parts]) if parts else np.empty((0, *shape))
    return matrices, sign * np.array([part.offset for part in parts])


def objective_of(formula: Formula) -> Objective:
    """A formula as functions again, that read as its coefficients."""
    read = formula.coefficients
    assert read is not None

    def sides(q: Any) -> list[Any]:
        import cvxpy

        entries = cvxpy.vec(q, order="F")
        found = [_row(costs) @ entries for costs in (read.costs, *read.rows)]
        found[0] += read.offset
        for number, of in enumerate(read.of_maxima):
            own = [place for place, maximum in enumerate(read.maxima) if maximum == number]
            found[of] += cvxpy.max(np.stack([_row(read.pieces[place]) for place in own]) @ entries + read.shifts[own])
        for number, of in enumerate(read.of_norms):
            own = [place for place, norm in enumerate(read.norms) if norm == number]
            found[of] += cvxpy.norm(np.stack([_row(read.sides[place]) for place in own]) @ entries + read.ends[own])
        for square, centre, scale, of in zip(read.squares, read.centres, read.scales, read.of_squares, strict=True):
            found[of] += scale * cvxpy.square(_row(square) @ entries + centre)
        return found

    def constraints(q: Any) -> list[Any]:
        left = zip(sides(q)[1:], read.limits.tolist(), read.equal, strict=True)
        return [side == limit if is_equal else side <= limit for side, limit, is_equal in left]

    return Objective(lambda q: sides(q)[0], constraints, formula.tolerance)
