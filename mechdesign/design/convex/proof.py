"""Bounds for any linear objective of a table ``q[x, y]`` under linear constraints, over *all* epsilon-LDP tables.

For multipliers ``lambda_k`` (at least 0 where constraint k is an inequality) the objective of every table that meets
``A_k . q <= b_k`` (or ``=``) up to ``tolerance`` is at least

    ``offset - sum_k lambda_k b_k - tolerance sum_k |lambda_k| + min over eps-LDP q of (C + sum_k lambda_k A_k) . q``,

and the last minimum is bounded by one level an input as in `mechdesign.exact.matrix`. Only constraints with a
multiplier need be there: those left out would only shrink the class.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.criteria import Family, Scope
from mechdesign.design.convex.problem import Linear, TableProblem
from mechdesign.design.evidence import column, require_columns, require_mechanism, require_problem
from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import array, finite, frozen

Floats = NDArray[np.float64]


@frozen
class LinearBound:
    """The dual solution of a linear problem: ``levels``, one an input, and ``multipliers``, one a constraint.

    >>> from mechdesign.domains import Finite
    >>> pair = Finite((0, 1))
    >>> problem = TableProblem(1.0, pair, pair, "errors", linear=Linear([[0.0, 1.0], [1.0, 0.0]]))
    >>> round(float(LinearBound([0.2689, 0.2689]).value(problem)), 3)  # randomised response, 2 / (1 + e)
    0.538
    """

    kind: ClassVar[str] = "linear"
    claimed: ClassVar[bool] = False

    levels: Floats = array(column("levels"))
    multipliers: Floats = array(column("multipliers"), default=())

    def value(self, problem: TableProblem) -> Fraction:
        """The bound, exactly."""
        linear = self._linear(problem)
        tolerance, multipliers = Fraction(problem.tolerance), map(Fraction, self.multipliers.tolist())
        costs, total = _fractions(linear.costs), Fraction(linear.offset)
        for (row, limit), multiplier in zip(_constraints(linear), multipliers, strict=True):
            costs = costs + multiplier * row
            total -= multiplier * limit + abs(multiplier) * tolerance
        levels = _fractions(self.levels)
        gaps = costs - levels[:, None]
        ratio = exp_upper(problem.epsilon)
        least = min(np.where(gaps < 0, ratio * gaps, gaps).sum(axis=0))
        dual = levels.sum() + (least if least < 0 else least / ratio)
        # what no table can go below
        plain = _fractions(linear.costs).min(axis=1).sum() + Fraction(linear.offset)
        return Fraction(max(total + dual, plain))

    def _linear(self, problem: TableProblem) -> Linear:
        linear = problem.linear
        if linear is None:
            raise CheckFailed("the evidence is about linear problems, and the problem is not known to be one")
        require_columns(len(problem.inputs), levels=self.levels)
        if self.multipliers.size != len(linear.equal):
            raise CheckFailed(f"{self.multipliers.size} multipliers do not fit {len(linear.equal)} constraints")
        if any(value < 0 and not flag for value, flag in zip(self.multipliers.tolist(), linear.equal, strict=True)):
            raise CheckFailed("the multiplier of an inequality is below 0")
        return linear

    def bound(self, problem: Any, mechanism: Any) -> float:
        return float_down(self.value(require_problem(problem, TableProblem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        asked = require_problem(problem, TableProblem)
        linear, law = self._linear(asked), _law(mechanism, asked)
        for number, ((row, limit), is_equal) in enumerate(zip(_constraints(linear), linear.equal, strict=True)):
            excess = (row * law).sum() - limit
            if (abs(excess) if is_equal else excess) > Fraction(asked.tolerance):
                raise CheckFailed(f"the mechanism breaks constraint {number} of the problem by {float(excess)!r}")
        return float_up(Fraction((_fractions(linear.costs) * law).sum() + Fraction(linear.offset)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = require_problem(problem, TableProblem)
        meets = f" that meet the stated constraints within {asked.tolerance!r}"
        return Scope(Family.ON_OUTPUTS, meets if self._linear(asked).equal else "")


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
        _not_linear(problem)
        return self.lower

    def attained(self, problem: Any, mechanism: Any) -> float:
        _law(mechanism, _not_linear(problem))
        return self.upper

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = _not_linear(problem)
        # the solver's bound is about mechanisms that meet them; how nearly its own does was computed
        meets = f" that meet the stated constraints, as this one does within {asked.tolerance!r}"
        return Scope(Family.ON_OUTPUTS, meets if asked.constraints else "")


def _not_linear(problem: Any) -> TableProblem:
    asked = require_problem(problem, TableProblem)
    if asked.linear is not None:
        raise CheckFailed("the bound of a linear problem is proven and not claimed: costs and constraints are known")
    return asked


def _law(mechanism: Any, problem: TableProblem) -> Any:
    """The mechanism's exact table on all outputs of the problem."""
    table = require_mechanism(mechanism, Discrete, problem)
    if not set(table.outputs.points) <= set(problem.outputs.points):
        raise CheckFailed(f"{table.name} has outputs that are not the problem's")
    law = np.full((len(problem.inputs), len(problem.outputs)), Fraction(0), dtype=object)
    law[:, problem.outputs.index(table.outputs.points)] = table.exact_rows()
    return law


def _constraints(linear: Linear) -> list[tuple[Any, Fraction]]:
    return list(zip(map(_fractions, linear.rows), map(Fraction, linear.limits.tolist()), strict=True))


def _fractions(values: Floats) -> Any:
    """An array of the same numbers as Fractions."""
    numbers = np.empty(values.size, dtype=object)
    numbers[:] = [Fraction(value) for value in values.ravel().tolist()]
    return numbers.reshape(values.shape)
