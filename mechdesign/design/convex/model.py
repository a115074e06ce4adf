"""The CVXPY side of a custom design: what the user states, checked, with privacy added, solved and repaired."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mechdesign_solvers import Cvxpy, Limits, Solution, Status
from numpy.typing import NDArray

from mechdesign.design.convex.problem import MOST_COEFFICIENTS, NEGLIGIBLE, CustomProblem, Linear, TableProblem
from mechdesign.design.convex.proof import ConvexClaim, LinearBound
from mechdesign.design.private_table import fitting_base, private_table
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved

Floats = NDArray[np.float64]

_UNUSED = 1e-9
_CLAIMED = 1e-7  # what a claimed bound allows for the solver's own tolerance


class ConvexModel:
    """The CVXPY problem: the user's part, checked, and privacy."""

    def __init__(self, problem: CustomProblem) -> None:
        import cvxpy

        self._cvxpy, self.problem = cvxpy, problem
        self.shape = len(problem.inputs), len(problem.outputs)
        self.q = cvxpy.Variable(self.shape, nonneg=True, name="q")
        self.objective = self._stated(problem.objective, "objective")
        self.constraints = [] if problem.constraints is None else self._stated(problem.constraints, "constraints")
        self._require_objective()
        self._require_constraints()
        self.exponent, self.solved = 0, 0.0
        self._costs: Floats | None = None
        self._least, self._shift = np.zeros((self.shape[0], 1)), 0.0
        if self.objective.is_affine():
            with np.errstate(all="ignore"):
                costs, offsets = self._coefficients(self.objective)
                self._costs, self._least = costs[0], costs[0].min(axis=1, keepdims=True)
                self._shift = float(self._least.sum()) + float(offsets[0])
                is_finite = math.isfinite(self._shift) and np.isfinite(self._costs - self._least).all()
            if not is_finite:
                raise InvalidInput("objective", str(self.objective), "stay finite on all tables", "rescale it")
            self.q.value = None
        self._base = cvxpy.Variable((1, self.shape[1]), nonneg=True, name="mu")
        spread = np.ones((self.shape[0], 1)) @ self._base
        self._sums = cvxpy.sum(self.q, axis=1) == 1
        self.understood = TableProblem(
            problem.epsilon,
            problem.inputs,
            problem.outputs,
            str(self.objective),
            tuple(str(constraint) for constraint in self.constraints),
            problem.tolerance,
            problem.gap,
            self._linear(),
        )
        self._privacy = [self.q >= spread, self.q <= math.exp(problem.epsilon) * spread, self._sums]

    def answer(self, clock: Clock) -> tuple[Solution, Discrete, LinearBound | ConvexClaim]:
        """Solution, mechanism and evidence; again in a finer scale where tolerances were too coarse."""
        self.exponent = self._first_exponent()
        least, proven = math.inf, -math.inf
        for is_last in (False, False, False, True):
            try:
                solution = self.solve(clock.left())
            except NoAnswer as error:
                raise NoAnswer(error.reason, proven, least) from None
            mechanism = self.mechanism()
            attained = self.attained(mechanism)
            evidence = self._evidence()
            if evidence is None:
                self.understood = evolved(self.understood, linear=None)
                return solution, mechanism, self._claim(attained)
            lower, upper = (side(self.understood, mechanism) for side in (evidence.bound, evidence.attained))
            least, proven = min(least, upper), max(proven, lower)
            finer = _exponent(upper - self._shift)
            if is_last or self.is_near(lower, upper) or finer >= self.exponent:
                break
            self.exponent = finer
        assert evidence is not None
        return solution, mechanism, evidence

    def _claim(self, attained: float) -> ConvexClaim:
        """The solver's word, less what its own tolerance may be off by."""
        size = math.ldexp(1.0, self.exponent)
        lower = min(self.solved - _CLAIMED * max(size, abs(attained)), attained)
        return ConvexClaim(max(lower, 0.0) if self.objective.is_nonneg() else lower, attained)

    def is_near(self, lower: float, upper: float) -> bool:
        """Whether proven bounds are as near to each other as the problem asks."""
        assert self._costs is not None
        return upper - lower <= max(self.problem.gap * upper, NEGLIGIBLE * float(np.abs(self._costs).max()))

    def _first_exponent(self) -> int:
        """The power of two nearest to the objective of the mechanism that ignores its input."""
        if self._costs is not None:
            return _exponent(float((self._costs - self._least).mean(axis=1).sum()))
        self.q.value = np.full(self.shape, 1 / self.shape[1])
        with np.errstate(all="ignore"):
            size = self.objective.value
        return 0 if size is None else _exponent(float(size))

    def solve(self, seconds: float | None) -> Solution:
        """The solver's answer for the objective in units of ``2^exponent``; a linear one without what all rows pay."""
        is_linear = self._costs is not None and all(self._is_affine(c) for c in self.constraints)
        solver = Cvxpy("highs" if is_linear else "clarabel")
        if self._costs is None:
            objective = math.ldexp(1.0, -self.exponent) * self.objective
        else:
            costs = np.ldexp(self._costs - self._least, -self.exponent)
            objective = self._cvxpy.sum(self._cvxpy.multiply(costs, self.q))
        program = self._cvxpy.Problem(self._cvxpy.Minimize(objective), [*self._privacy, *self.constraints])
        try:
            solution = solver.solve(program, Limits(seconds=seconds))
        except (ValueError, ArithmeticError) as error:
            raise NoAnswer(f"{solver.name} failed: {error}", -math.inf, math.inf) from error
        if solution.status in (Status.INFEASIBLE, Status.UNBOUNDED) and self.constraints:
            self._name_the_impossible(solver)
        if solution.status is not Status.OPTIMAL:
            reason = f"{solution.solver} ended with status {solution.status.value!r}"
            raise NoAnswer(reason, -math.inf, math.inf)
        self.solved = math.ldexp(float(solution.objective or 0.0), self.exponent) + self._shift
        return solution

    def mechanism(self) -> Discrete:
        """The solver's table, moved to an exactly private one; outputs it does not use are left out."""
        problem = self.problem
        law = np.maximum(self.q.value, 0.0)
        used = law.max(axis=0) > _UNUSED
        law = law[:, used]
        # the base measure nearest to the solver's for which no column is out of reach
        base = np.clip(self._base.value[0, used], law.max(axis=0) * math.exp(-problem.epsilon), law.max(axis=0))
        outputs = Finite(tuple(np.asarray(problem.outputs.points)[used].tolist()))
        fitted = fitting_base(base, problem.epsilon)
        return private_table(problem.epsilon, problem.inputs, outputs, law, fitted, "custom optimum")

    def attained(self, mechanism: Discrete) -> float:
        """The objective at the mechanism; `CheckFailed` if it breaks a constraint by more than the tolerance."""
        law = np.zeros(self.shape)
        columns = self.problem.outputs.index(mechanism.outputs.points)
        law[:, columns] = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
        multipliers = [constraint.dual_value for constraint in (self._sums, *self.constraints)]
        self.q.value = law
        for number, constraint in enumerate(self.constraints):
            excess = float(np.max(constraint.violation()))
            if not excess <= self.problem.tolerance:
                raise CheckFailed(f"the private table breaks constraint {number}, {constraint}, by {excess:.3g}")
        self._multipliers = multipliers
        with np.errstate(over="ignore"):
            attained = float(self.objective.value)
        if not math.isfinite(attained):
            raise InvalidInput("objective", attained, "be finite at its optimum", "rescale it")
        return attained

    def _linear(self) -> Linear | None:
        """The coefficients, if all is linear and they are few enough for a proof."""
        if not self.objective.is_affine() or not all(self._is_affine(c) for c in self.constraints):
            return None
        sizes = sum(int(constraint.expr.size) for constraint in self.constraints)
        if sizes * self.q.size > MOST_COEFFICIENTS:
            return None
        kept = self.q.value
        costs, offsets = self._coefficients(self.objective)
        parts = [self._coefficients(constraint.expr) for constraint in self.constraints]
        self.q.value = kept
        rows = np.concatenate([np.empty((0, *self.shape)), *(rows for rows, _ in parts)])
        limits = np.concatenate([np.empty(0), *(-constants for _, constants in parts)])
        equal = tuple(self._is_equality(c) for c in self.constraints for _ in range(int(c.expr.size)))
        return Linear(costs[0], float(offsets[0]), rows, limits, equal)

    def _evidence(self) -> LinearBound | None:
        """The proof from the multipliers of the row sums and of the user's constraints, if all is linear."""
        linear = self.understood.linear
        if linear is None or any(value is None for value in self._multipliers):
            return None
        flat = [np.ravel(np.asarray(value, dtype=np.float64), order="F") for value in self._multipliers]
        flat = [np.ldexp(values, self.exponent) for values in flat]
        multipliers = np.concatenate([np.empty(0), *flat[1:]])
        return LinearBound(
            self._least[:, 0] - flat[0], np.where(linear.equal, multipliers, np.maximum(multipliers, 0.0))
        )

    def _coefficients(self, expression: Any) -> tuple[Floats, Floats]:
        """``A`` and ``b`` of an affine expression ``A . q + b``, entries in CVXPY's (column-major) order."""
        count = int(expression.size)
        self.q.value = np.zeros(self.shape)
        constants = np.ravel(np.asarray(expression.value, dtype=np.float64), order="F")
        if not expression.variables():
            return np.zeros((count, *self.shape)), constants
        gradient = expression.grad[self.q]
        dense = gradient.toarray() if hasattr(gradient, "toarray") else np.asarray(gradient, dtype=np.float64)
        columns = dense.reshape(self.q.size, count).T
        return columns.reshape(count, self.shape[1], self.shape[0]).transpose(0, 2, 1), constants

    def _stated(self, function: Callable[[Any], Any], field: str) -> Any:
        _require_no_masks(function, field)
        try:
            return function(self.q)
        except Exception as error:
            rule = f"be a function of q, which has shape {self.shape}: {error}"
            raise InvalidInput(field, type(error).__name__, rule) from error

    def _require_objective(self) -> None:
        expression, cvxpy = self.objective, self._cvxpy
        if not isinstance(expression, cvxpy.Expression):
            raise InvalidInput("objective", expression, "return a CVXPY expression to be minimised")
        if expression.size != 1 or expression.is_complex():
            raise InvalidInput("objective", expression.shape, "be one real number", "sum or average it")
        self._require_alone(expression, "objective")
        if expression.shape:
            self.objective = expression = cvxpy.sum(expression)
        if not expression.is_convex():
            rule = "be convex in q by the rules of disciplined convex programming"
            raise InvalidInput("objective", str(expression), rule, "to maximise a concave one, minimise its negative")

    def _require_constraints(self) -> None:
        if isinstance(self.constraints, self._cvxpy.constraints.constraint.Constraint):
            self.constraints = [self.constraints]
        if isinstance(self.constraints, list | tuple):
            self.constraints = [self._plain(constraint) for constraint in self.constraints]
        if not isinstance(self.constraints, list | tuple):
            raise InvalidInput("constraints", self.constraints, "return a list of CVXPY constraints")
        for number, constraint in enumerate(self.constraints):
            field = f"constraints[{number}]"
            if not isinstance(constraint, self._cvxpy.constraints.constraint.Constraint):
                raise InvalidInput(field, constraint, "be a CVXPY constraint", "compare an expression of q")
            self._require_alone(constraint, field)
            if not constraint.is_dcp():
                raise InvalidInput(field, str(constraint), "be convex by the rules of disciplined convex programming")

    def _plain(self, constraint: Any) -> Any:
        """``NonNeg`` and its like as the comparisons they stand for."""
        kinds = self._cvxpy.constraints
        if isinstance(constraint, kinds.NonNeg):
            return constraint.args[0] >= 0
        if isinstance(constraint, kinds.NonPos):
            return constraint.args[0] <= 0
        return constraint.args[0] == 0 if isinstance(constraint, kinds.Zero) else constraint

    def _require_alone(self, stated: Any, field: str) -> None:
        """Variables of the user's own would have no value at the mechanism."""
        if any(variable is not self.q for variable in stated.variables()):
            raise InvalidInput(field, str(stated), "be written in q alone", "use cvxpy atoms such as cvxpy.max")
        for parameter in stated.parameters():
            if parameter.value is None:
                raise InvalidInput(field, parameter.name(), "have values for its parameters")
        for constant in (*stated.constants(), *stated.parameters()):
            values = constant.value
            values = values.toarray() if hasattr(values, "toarray") else np.asarray(values)
            if not np.isfinite(values).all():
                rule = "hold finite numbers only"
                raise InvalidInput(field, str(stated), rule, "NaN and infinity are never accepted")

    def _name_the_impossible(self, solver: Cvxpy) -> None:
        """`InvalidInput` that names the first constraint which no private table meets together with those before."""
        nothing = self._cvxpy.Minimize(0)
        for count in range(1, len(self.constraints) + 1):
            program = self._cvxpy.Problem(nothing, [*self._privacy, *self.constraints[:count]])
            if solver.solve(program).status is Status.INFEASIBLE:
                together = "" if count == 1 else " together with the constraints before it"
                rule = f"be met by some table with eps = {self.problem.epsilon:g}{together}"
                raise InvalidInput(f"constraints[{count - 1}]", str(self.constraints[count - 1]), rule)

    def _is_affine(self, constraint: Any) -> bool:
        is_row = self._is_equality(constraint) or isinstance(constraint, self._cvxpy.constraints.nonpos.Inequality)
        return is_row and bool(constraint.expr.is_affine())

    def _is_equality(self, constraint: Any) -> bool:
        return isinstance(constraint, self._cvxpy.constraints.zero.Equality)


def _require_no_masks(function: Callable[[Any], Any], field: str) -> None:
    """CVXPY reads what is below a mask without a word, so masked arrays are met where the function mentions them."""
    if not inspect.isfunction(function):
        return
    try:
        mentioned = inspect.getclosurevars(function)
    except ValueError:  # a variable that has no value yet
        return
    for name, value in {**mentioned.globals, **mentioned.nonlocals}.items():
        if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
            raise InvalidInput(field, name, "use arrays without masked entries", "fill them outside the function")


def _exponent(size: float) -> int:
    """``e`` with ``size`` of order ``2^e``, where ``2^e`` and ``2^-e`` are doubles."""
    return min(max(math.frexp(size)[1], -1000), 1000) if size and math.isfinite(size) else 0
