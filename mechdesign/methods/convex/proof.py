"""Bounds for convex objectives of a table ``q[x, y]`` under convex constraints, over *all* epsilon-LDP tables.

Objective and constraints are linear functions, maxima of some, squares of some and Euclidean norms of vectors of them.
Each of these is above a linear function, whatever the numbers: a maximum above ``sum_i w_i piece_i`` for weights
``w_i >= 0`` of sum 1 (pieces may be such sums themselves), a square ``e^2`` above ``2 s e - s^2`` for any
s, a norm ``|e|`` above ``u . e`` for any u with ``|u| <= 1``. So for multipliers ``lambda_k`` (at least 0 where
constraint k is an inequality) the objective of every table that meets the constraints up to ``tolerance`` is at least

    ``sum_k lambda_k (f_k below, its limit taken off) - tolerance sum_k |lambda_k|``, ``lambda_0 = 1`` of the objective,

with f_k's linear functions for its maxima, squares and norms: ``offset + C . q`` for a matrix C. The least of
``C . q`` over epsilon-LDP q is bounded by one level an input as in `mechdesign.exact.matrix`. Only constraints with a
multiplier need be there: those left out would only shrink the class.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper, float_down, float_up, root_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.convex.supports import formula_of
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.values.declare import Floats, array, finite, frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.fits.objectives import outputs_of
from mechdesign.words.objectives import Coefficients, Formula
from mechdesign.words.problem import Problem


@frozen
class ConvexBound:
    """What a lower bound follows from: ``levels``, one an input, ``multipliers``, one a constraint.

    ``weights`` are those of pieces, divided by their sum in every maximum, ``slopes`` half those of squares, and
    ``directions`` those of norms, made as short as 1 where they are longer.

    >>> from mechdesign.words.criteria import Total
    >>> from mechdesign.words.objectives import Formula
    >>> from mechdesign.words.privacy import Pure
    >>> asked = Formula("errors", coefficients=Coefficients([[0.0, 1.0], [1.0, 0.0]]))
    >>> problem = Problem(inputs=[0, 1], loss=asked, privacy=Pure(1.0), criterion=Total())
    >>> round(float(ConvexBound([0.2689, 0.2689]).value(problem)), 3)  # randomised response, 2 / (1 + e)
    0.538
    """

    kind: ClassVar[str] = "convex"
    claimed: ClassVar[bool] = False

    levels: Floats = array(column("levels"))
    multipliers: Floats = array(column("multipliers"), default=())
    weights: Floats = array(column("weights"), default=())
    slopes: Floats = array(column("slopes"), default=())
    directions: Floats = array(column("directions"), default=())

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly."""
        asked, tolerance = self._fitting(problem), Fraction(formula_of(problem).tolerance)
        # the objective counts once, and every constraint as often as its multiplier says
        counted = [Fraction(1), *map(Fraction, self.multipliers.tolist())]
        costs, total = _fractions(asked.costs), Fraction(asked.offset)
        for row, limit, times in zip(asked.rows, asked.limits.tolist(), counted[1:], strict=True):
            _add(costs, row, times)
            total -= times * Fraction(limit) + abs(times) * tolerance
        for piece, shift, number, weight in zip(
            asked.pieces, asked.shifts.tolist(), asked.maxima, self._shares(asked), strict=True
        ):
            times = weight * counted[asked.of_maxima[number]]
            counted.append(times)  # a piece is a function, too
            _add(costs, piece, times)
            total += times * Fraction(shift)
        for square, centre, scale, number, half in zip(
            asked.squares,
            asked.centres.tolist(),
            asked.scales.tolist(),
            asked.of_squares,
            self.slopes.tolist(),
            strict=True,
        ):
            times, slope = Fraction(scale) * counted[number], Fraction(half)
            _add(costs, square, 2 * slope * times)
            total += times * (2 * slope * Fraction(centre) - slope**2)
        for side, end, number, part in zip(
            asked.sides, asked.ends.tolist(), asked.norms, self._parts(asked), strict=True
        ):
            times = part * counted[asked.of_norms[number]]
            _add(costs, side, times)
            total += times * Fraction(end)
        levels = _fractions(self.levels)
        gaps = costs - levels[:, None]
        ratio = exp_upper(problem.epsilon)
        least = min(np.where(gaps < 0, ratio * gaps, gaps).sum(axis=0))
        dual = levels.sum() + (least if least < 0 else least / ratio)
        return Fraction(max(total + dual, _plain(asked)))

    def _fitting(self, problem: Problem) -> Coefficients:
        """The coefficients, if the evidence is about problems like it; else `CheckFailed`."""
        asked = formula_of(problem).coefficients
        if asked is None:
            raise CheckFailed("the evidence is about coefficients, and those of the problem are not known")
        require_columns(len(problem.numbers), levels=self.levels)
        for name, count in (
            ("multipliers", asked.equal),
            ("weights", asked.maxima),
            ("slopes", asked.of_squares),
            ("directions", asked.norms),
        ):
            if getattr(self, name).size != len(count):
                raise CheckFailed(f"{getattr(self, name).size} {name} do not fit the problem, which takes {len(count)}")
        if any(value < 0 and not flag for value, flag in zip(self.multipliers.tolist(), asked.equal, strict=True)):
            raise CheckFailed("the multiplier of an inequality is below 0")
        if (self.weights < 0).any():
            raise CheckFailed("the weight of a piece is below 0")
        return asked

    def _shares(self, asked: Coefficients) -> list[Fraction]:
        """Weights of sum 1 in every maximum."""
        weights = list(map(Fraction, self.weights.tolist()))
        sums = [Fraction(0)] * len(asked.of_maxima)
        for number, weight in zip(asked.maxima, weights, strict=True):
            sums[number] += weight
        if 0 in sums:
            raise CheckFailed("the weights of a maximum are all 0")
        return [weight / sums[number] for number, weight in zip(asked.maxima, weights, strict=True)]

    def _parts(self, asked: Coefficients) -> list[Fraction]:
        """The entries of directions that are no longer than 1."""
        parts = list(map(Fraction, self.directions.tolist()))
        squares = [Fraction(0)] * len(asked.of_norms)
        for number, part in zip(asked.norms, parts, strict=True):
            squares[number] += part**2
        lengths = [max(Fraction(1), root_up(square)) for square in squares]
        return [part / lengths[number] for number, part in zip(asked.norms, parts, strict=True)]

    def bound(self, problem: Any, mechanism: Any) -> float:
        return float_down(self.value(problem))

    def attained(self, problem: Any, mechanism: Any) -> float:
        coefficients, law = self._fitting(problem), _law(mechanism, problem)
        tolerance = Fraction(formula_of(problem).tolerance)
        objective, *found = _functions(coefficients, law)
        for number, (value, limit, is_equal) in enumerate(
            zip(found, coefficients.limits.tolist(), coefficients.equal, strict=True)
        ):
            excess = value - Fraction(limit)
            if (abs(excess) if is_equal else excess) > tolerance:
                raise CheckFailed(f"the mechanism breaks constraint {number} of the problem by {float(excess)!r}")
        return float_up(objective)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        meets = f" that meet the stated constraints within {formula_of(problem).tolerance!r}"
        return Scope(Family.ON_OUTPUTS, meets if self._fitting(problem).equal else "")


def _plain(asked: Coefficients) -> Fraction:
    """What no table can go below, private or not: rows sum to 1, and squares and norms are at least 0."""
    parts = (asked.costs, *asked.pieces), (asked.offset, *asked.shifts.tolist())
    objective, *pieces = [Fraction(end) + _fractions(part).min(axis=1).sum() for part, end in zip(*parts, strict=True)]
    return _with_maxima(asked, [objective, *(Fraction(0) for _ in asked.equal), *pieces])[0]


def _functions(asked: Coefficients, law: Any) -> list[Fraction]:
    """The objective and the left sides of all constraints at a table, exactly, but for norms, which round up."""
    found = [Fraction(asked.offset), *(Fraction(0) for _ in asked.equal)]
    for number, costs in enumerate((asked.costs, *asked.rows)):
        found[number] += _at(costs, law)
    found += [
        _at(piece, law) + Fraction(shift) for piece, shift in zip(asked.pieces, asked.shifts.tolist(), strict=True)
    ]
    for square, centre, scale, number in zip(
        asked.squares, asked.centres.tolist(), asked.scales.tolist(), asked.of_squares, strict=True
    ):
        found[number] += Fraction(scale) * (_at(square, law) + Fraction(centre)) ** 2
    lengths = [Fraction(0)] * len(asked.of_norms)
    for side, end, number in zip(asked.sides, asked.ends.tolist(), asked.norms, strict=True):
        lengths[number] += (_at(side, law) + Fraction(end)) ** 2
    for square_of_norm, of in zip(lengths, asked.of_norms, strict=True):
        found[of] += root_up(square_of_norm)
    return _with_maxima(asked, found)


def _with_maxima(asked: Coefficients, values: list[Fraction]) -> list[Fraction]:
    """The values of objective and constraints, from those that all functions have without their maxima."""
    found, count = list(values), 1 + len(asked.equal)
    pieces: list[list[int]] = [[] for _ in asked.of_maxima]
    for place, number in enumerate(asked.maxima):
        pieces[number].append(count + place)
    for of, own in reversed(list(zip(asked.of_maxima, pieces, strict=True))):  # maxima in pieces come last
        found[of] += max(found[piece] for piece in own)
    return found[:count]


def _at(costs: Floats, law: Any) -> Fraction:
    places = np.nonzero(costs)
    return Fraction(
        sum(
            (Fraction(cost) * share for cost, share in zip(costs[places].tolist(), law[places], strict=True)),
            Fraction(0),
        )
    )


def _add(costs: Any, more: Floats, times: Fraction) -> None:
    """``costs += times more``, where ``more`` is not 0."""
    if times:
        places = np.nonzero(more)
        costs[places] += times * _fractions(more[places])


@frozen
class ConvexClaim:
    """A lower bound of the solver, and the objective at the mechanism.

    Both are claimed: the objective is a function that is not in the design, and nothing here computes it again.
    """

    kind: ClassVar[str] = "convex claim"
    claimed: ClassVar[bool] = True

    lower: float = finite("lower")
    upper: float = finite("upper")

    def bound(self, problem: Any, mechanism: Any) -> float:
        _unread(problem)
        return self.lower

    def attained(self, problem: Any, mechanism: Any) -> float:
        _unread(problem)
        _law(mechanism, problem)
        return self.upper

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = _unread(problem)
        # the solver's bound is about mechanisms that meet them; how nearly its own does was computed
        meets = f" that meet the stated constraints, as this one does within {asked.tolerance!r}"
        return Scope(Family.ON_OUTPUTS, meets if asked.constraints else "")


def _unread(problem: Any) -> Formula:
    asked = formula_of(problem)
    if asked.coefficients is not None:
        raise CheckFailed("the bound of this problem is proven and not claimed: its coefficients are known")
    return asked


def _law(mechanism: Any, problem: Problem) -> Any:
    """The mechanism's exact table on all outputs of the problem."""
    table, outputs = require_mechanism(mechanism, Discrete, problem), outputs_of(problem)
    if not set(table.outputs.points) <= set(outputs.points):
        raise CheckFailed(f"{table.name} has outputs that are not the problem's")
    law = np.full((len(problem.numbers), len(outputs)), Fraction(0), dtype=object)
    law[:, outputs.index(table.outputs.points)] = table.exact_rows()
    return law


def _fractions(values: Floats) -> Any:
    """An array of the same numbers as Fractions."""
    numbers = np.empty(values.size, dtype=object)
    numbers[:] = [Fraction(value) for value in values.ravel().tolist()]
    return numbers.reshape(values.shape)
