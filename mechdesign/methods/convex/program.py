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
        for number in read.maxima:  # pieces are functions, too
            scale.append(scale[read.of_maxima[number]])
        sides: list[list[Any]] = [[] for _ in scale]
        for number, costs in enumerate((read.costs, *read.rows)):
            sides[number].append(scale[number] * _row(costs) @ entries)
        of_norms = [read.of_norms[number] for number in read.norms]
        curved = sorted({of - count for of in (*read.of_maxima, *read.of_squares, *of_norms) if of >= count})
        self._tops: list[tuple[list[int], Any]] = []
        if read.maxima:
            greatest = cvxpy.Variable(len(read.of_maxima))
            units = np.array(scale[count:])
            pieces = (np.stack([_row(piece) for piece in read.pieces]) * units[:, None]) @ entries + read.shifts * units
            for place in curved:
                sides[count + place].append(pieces[place])
            for number, of in enumerate(read.of_maxima):
                sides[of].append(greatest[number])
        self._cones: list[tuple[Any, Any]] = []
        if read.norms:
            longest = cvxpy.Variable(len(read.of_norms))
            units = np.array([scale[of] for of in of_norms])
            found = (np.stack([_row(side) for side in read.sides]) * units[:, None]) @ entries + read.ends * units
            own = [np.flatnonzero(np.equal(read.norms, number)) for number in range(len(read.of_norms))]
            self._cones = [(places, cvxpy.SOC(longest[number], found[places])) for number, places in enumerate(own)]
            for number, of in enumerate(read.of_norms):
                sides[of].append(longest[number])
        self._below = [
            _row(square) @ entries + c for square, c in zip(read.squares, read.centres.tolist(), strict=True)
        ]
        for of, below, times in zip(read.of_squares, self._below, read.scales.tolist(), strict=True):
            sides[of].append(scale[of] * times * cvxpy.square(below))
        if read.maxima:
            plain = [place for place in range(len(read.maxima)) if place not in curved]
            alone = [(plain, pieces if not curved else pieces[plain])] if plain else []
            bowed = [([place], sum(sides[count + place][1:], sides[count + place][0])) for place in curved]
            self._tops = [
                (places, side <= greatest[[read.maxima[p] for p in places]]) for places, side in (*alone, *bowed)
            ]
        objective, *left = [sum(side[1:], side[0]) for side in sides[:count]]
        self.objective = objective
        self.limits = [
            side == limit if is_equal else side <= limit
            for side, limit, is_equal in zip(left, read.limits.tolist(), read.equal, strict=True)
        ]

    @property
    def constraints(self) -> list[Any]:
        return [*self.limits, *(top for _, top in self._tops), *(cone for _, cone in self._cones)]

    @property
    def weights(self) -> Floats:
        """The multipliers of pieces; those of a maximum that has none are alike."""
        found = np.zeros(len(self._read.maxima))
        for places, top in self._tops:
            found[places] = np.maximum(np.ravel(np.asarray(top.dual_value, dtype=np.float64)), 0.0)
        sums = np.bincount(self._read.maxima, weights=found)
        return np.where(sums[list(self._read.maxima)] > 0, found, 1.0)

    @property
    def slopes(self) -> Floats:
        return np.array([float(below.value) for below in self._below])

    @property
    def directions(self) -> Floats:
        """What the multipliers of norms say of the way in which each grows; 0 for those that do not count."""
        found = np.zeros(len(self._read.norms))
        for places, cone in self._cones:
            top, vector = map(np.ravel, cone.dual_value)
            if top[0] > 0:
                found[places] = -vector / top[0]
        return found


def _row(costs: Floats) -> Floats:
    """Entries in CVXPY's (column-major) order."""
    return np.ravel(costs, order="F")


def coefficients_of(terms: list[Term], equal: tuple[bool, ...], shape: tuple[int, int]) -> Coefficients:
    """The objective and the left sides of constraints as data."""
    objective, *left = terms
    functions, pieces = list(terms), []
    maxima: list[int] = []
    for number, term in enumerate(functions):  # which grow: pieces come behind what they are pieces of
        for found in term.maxima:
            pieces += [(piece, len(maxima)) for piece in found]
            functions += found
            maxima.append(number)
    squares = [(scale, one, number) for number, term in enumerate(functions) for scale, one in term.squares]
    norms = [(entries, number) for number, term in enumerate(functions) for entries in term.norms]
    sides = [(entry, number) for number, (found, _) in enumerate(norms) for entry in found]
    return Coefficients(
        objective.affine.costs,
        objective.affine.offset,
        *_stacked([term.affine for term in left], shape, -1.0),
        equal,
        *_stacked([piece.affine for piece, _ in pieces], shape),
        tuple(number for _, number in pieces),
        tuple(maxima),
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

    def stated(q: Any) -> list[Any]:
        import cvxpy

        entries = cvxpy.vec(q, order="F")
        found = [_row(costs) @ entries for costs in (read.costs, *read.rows, *read.pieces)]
        offsets = [read.offset, *(0.0 for _ in read.rows), *read.shifts.tolist()]
        found = [side + offset for side, offset in zip(found, offsets, strict=True)]
        for number, of in enumerate(read.of_norms):
            own = [place for place, norm in enumerate(read.norms) if norm == number]
            found[of] += cvxpy.norm(np.stack([_row(read.sides[place]) for place in own]) @ entries + read.ends[own])
        for square, centre, scale, of in zip(read.squares, read.centres, read.scales, read.of_squares, strict=True):
            found[of] += scale * cvxpy.square(_row(square) @ entries + centre)
        count = 1 + len(read.rows)
        for number, of in reversed(list(enumerate(read.of_maxima))):
            own = [found[count + place] for place, maximum in enumerate(read.maxima) if maximum == number]
            found[of] += cvxpy.max(cvxpy.hstack(own))
        return found[:count]

    def constraints(q: Any) -> list[Any]:
        left = zip(stated(q)[1:], read.limits.tolist(), read.equal, strict=True)
        return [side == limit if is_equal else side <= limit for side, limit, is_equal in left]

    return Objective(lambda q: stated(q)[0], constraints, formula.tolerance)
