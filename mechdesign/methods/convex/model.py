"""The CVXPY side of a custom design: what the user states, checked, with privacy added, solved and repaired."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from mechdesign_solvers import Cvxpy, Limits, Solution, Status
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.convex.epigraph import replace_tops
from mechdesign.methods.convex.program import Bent, coefficients_of, objective_of
from mechdesign.methods.convex.proof import ConvexBound, ConvexClaim
from mechdesign.methods.convex.reading import Reader, Term, Unread
from mechdesign.methods.private_table import fitting_base, private_table
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.criteria import Average, Total, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.fits.objectives import outputs_of
from mechdesign.words.objectives import MOST_COEFFICIENTS, Coefficients, Formula, Objective
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_UNUSED = 1e-9
_CLAIMED = 1e-7  # what a claimed bound allows for the solver's own tolerance


class ConvexModel:
    """The CVXPY problem: the user's part, checked, and privacy."""

    def __init__(self, problem: Problem, gap: float) -> None:
        import cvxpy

        self._cvxpy, self.problem, self.gap = cvxpy, problem, gap
        loss = problem.loss
        assert isinstance(loss, Objective | Formula)
        stated = objective_of(loss) if isinstance(loss, Formula) else loss
        self.outputs, self.tolerance = outputs_of(problem), loss.tolerance
        self.shape = len(problem.numbers), len(self.outputs)
        self.q = cvxpy.Variable(self.shape, nonneg=True, name="q")
        objective = self._stated(stated.function, "objective")
        constraints = {} if stated.constraints is None else self._stated(stated.constraints, "constraints")
        self._require_values(objective, "objective", cvxpy.Expression, "return a CVXPY expression to be minimised")
        self.objective, left = replace_tops(self.q, objective, self._by_key(constraints))
        self.keys, self.constraints = list(left), list(left.values())
        self._require_objective()
        self._require_convex()
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
        self.formula = loss if isinstance(loss, Formula) else self._formula()
        self._privacy = [self.q >= spread, self.q <= math.exp(problem.epsilon) * spread, self._sums]

    def answer(self, clock: Clock) -> tuple[Solution, Discrete, ConvexBound | ConvexClaim]:
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
                if self.formula.coefficients is not None:
                    self.formula = evolved(self.formula, coefficients=None, unread="a solver without multipliers")
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
        return upper - lower <= max(self.gap * upper, self.formula.negligible)

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
        read = self.formula.coefficients
        is_linear = (
            not (read.of_squares or read.norms)
            if read
            else self._costs is not None and all(map(self._is_affine, self.constraints))
        )
        solver = Cvxpy("highs" if is_linear else "clarabel")
        self._bent = None if read is None or read.is_linear else Bent(self._cvxpy, self.q, read, self.exponent)
        if self._costs is not None:
            costs = np.ldexp(self._costs - self._least, -self.exponent)
            objective = self._cvxpy.sum(self._cvxpy.multiply(costs, self.q))
        else:
            objective = math.ldexp(1.0, -self.exponent) * self.objective if self._bent is None else self._bent.objective
        constraints = self.constraints if self._bent is None else self._bent.constraints
        program = self._cvxpy.Problem(self._cvxpy.Minimize(objective), [*self._privacy, *constraints])
        try:
            solution = solver.solve(program, Limits(seconds=seconds))
        except (ValueError, ArithmeticError, NotImplementedError) as error:  # a form of what is not linear says nothing
            raise NoAnswer(f"{solver.name} failed: {error!r}", -math.inf, math.inf) from error
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
        outputs = Finite(tuple(np.asarray(self.outputs.points)[used].tolist()))
        fitted = fitting_base(base, problem.epsilon)
        return private_table(problem.epsilon, problem.numbers, outputs, law, fitted, "custom optimum")

    def attained(self, mechanism: Discrete) -> float:
        """The objective at the mechanism; `CheckFailed` if it breaks a constraint by more than the tolerance."""
        law = np.zeros(self.shape)
        columns = self.outputs.index(mechanism.outputs.points)
        law[:, columns] = mechanism.probabilities / mechanism.probabilities.sum(axis=1, keepdims=True)
        self._found = self._multipliers()
        self.q.value = law
        for number, constraint in enumerate(self.constraints):
            excess = float(np.max(constraint.violation()))
            if not excess <= self.tolerance:
                raise CheckFailed(
                    f"the private table breaks constraint {number}, {self._named(number)}, by {excess:.3g}"
                )
        with np.errstate(over="ignore"):
            attained = float(self.objective.value)
        if not math.isfinite(attained):
            raise InvalidInput("objective", attained, "be finite at its optimum", "rescale it")
        return attained

    @property
    def understood(self) -> Problem:
        """The problem as data."""
        return evolved(self.problem, loss=self.formula, criterion=Total())

    def _formula(self) -> Formula:
        read, names = self._read(), tuple(self._named(number) for number in range(len(self.constraints)))
        found = (None, read) if isinstance(read, str) else (read, "")
        return Formula(str(self.objective), names, self.tolerance, *found)

    def _read(self) -> Coefficients | str:
        """The coefficients, if all is made of maxima, squares and norms few enough for a proof, or why not."""
        kept = self.q.value
        reader = Reader(self._coefficients)
        try:
            (objective,) = reader.terms(self.objective)
            found = [(term, self._is_equality(c)) for c in self.constraints for term in self._terms(reader, c)]
        except Unread as problem:
            return str(problem)
        finally:
            self.q.value = kept
        terms = [objective, *(term for term, _ in found)]
        entries = sum(term.size for term in terms)
        if entries * self.q.size > MOST_COEFFICIENTS:
            return f"more than {MOST_COEFFICIENTS} coefficients"
        return coefficients_of(terms, tuple(is_equal for _, is_equal in found), self.shape)

    def _terms(self, reader: Reader, constraint: Any) -> list[Term]:
        if not self._is_equality(constraint) and not isinstance(constraint, self._cvxpy.constraints.nonpos.Inequality):
            raise Unread(f"the constraint {constraint}")
        return reader.terms(constraint.expr)

    def _multipliers(self) -> tuple[Floats, ...] | None:
        """The solver's multipliers of row sums, constraints and pieces, values below squares, and directions."""
        duals = [constraint.dual_value for constraint in (self._sums, *self.constraints)]
        if self._bent is not None:
            duals = [self._sums.dual_value, *(constraint.dual_value for constraint in self._bent.limits)]
        if self.formula.coefficients is None or any(value is None for value in duals):
            return None
        flat = [np.ravel(np.asarray(value, dtype=np.float64), order="F") for value in duals]
        sums, multipliers = flat[0], np.concatenate([np.empty(0), *flat[1:]])
        if self._bent is None:
            return sums, multipliers, np.empty(0), np.empty(0), np.empty(0)
        return sums, multipliers, self._bent.weights, self._bent.slopes, self._bent.directions

    def _evidence(self) -> ConvexBound | None:
        """The proof from the solver's multipliers, if all was read."""
        read = self.formula.coefficients
        if read is None or self._found is None:
            return None
        sums, multipliers, *bent = self._found
        levels = self._least[:, 0] - np.ldexp(sums, self.exponent)
        multipliers = np.ldexp(multipliers, self.exponent)
        return ConvexBound(levels, np.where(read.equal, multipliers, np.maximum(multipliers, 0.0)), *bent)

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
        expression = self.objective
        if isinstance(self.problem.criterion, Worst | Average):
            if expression.size != self.shape[0]:
                rule = f"be {self.shape[0]} numbers, an error for each input"
                step = "sum over the outputs only, axis=1, or ask criterion=Total() of an objective that is one number"
                raise InvalidInput("objective", expression.shape, rule, step)
            self.objective = expression = self._over_inputs(expression)
        if expression.size != 1 or expression.is_complex():
            raise InvalidInput("objective", expression.shape, "be one real number", "sum or average it")
        self._require_alone(expression, "objective")
        if expression.shape:
            self.objective = expression = self._cvxpy.sum(expression)
        if not expression.is_convex():
            rule = "be convex in q by the rules of disciplined convex programming"
            raise InvalidInput("objective", str(expression), rule, "to maximise a concave one, minimise its negative")

    def _over_inputs(self, errors: Any) -> Any:
        weights = self.problem.weights
        if weights is None:
            return self._cvxpy.max(errors)
        if np.ptp(weights) == 0:  # divided once: shares of n that are rounded each would be another average
            return self._cvxpy.sum(errors) / weights.size
        return weights @ self._cvxpy.vec(errors, order="F")

    def _by_key(self, said: Any) -> dict[int | str, Any]:
        """Constraints by their names, or else by their numbers."""
        kind = self._cvxpy.constraints.constraint.Constraint
        if isinstance(said, kind):
            said = [said]
        if not isinstance(said, dict | list | tuple):
            raise InvalidInput("constraints", said, "return a list of CVXPY constraints, or a dict with names")
        named = said if isinstance(said, dict) else dict(enumerate(said))
        found = {key: self._plain(stated) for key, stated in named.items()}
        for key, stated in found.items():
            if isinstance(said, dict) and not isinstance(key, str):
                raise InvalidInput("constraints", key, "have names that are texts")
            self._require_values(stated, _called(key), kind, "be a CVXPY constraint, a comparison of expressions of q")
        return found

    def _require_convex(self) -> None:
        for key, constraint in zip(self.keys, self.constraints, strict=True):
            self._require_alone(constraint, _called(key))
            if not constraint.is_dcp():
                rule = "be convex by the rules of disciplined convex programming"
                raise InvalidInput(_called(key), str(constraint), rule)

    def _named(self, number: int) -> str:
        """A constraint as a text, behind its name if it has one."""
        key = self.keys[number]
        return f"{key}: {self.constraints[number]}" if isinstance(key, str) else str(self.constraints[number])

    def _plain(self, constraint: Any) -> Any:
        """``NonNeg`` and its like as the comparisons they stand for."""
        kinds = self._cvxpy.constraints
        if isinstance(constraint, kinds.NonNeg):
            return constraint.args[0] >= 0
        if isinstance(constraint, kinds.NonPos):
            return constraint.args[0] <= 0
        return constraint.args[0] == 0 if isinstance(constraint, kinds.Zero) else constraint

    def _require_alone(self, stated: Any, field: str) -> None:
        """Other variables of the user's own would have no value at the mechanism."""
        if any(variable is not self.q for variable in stated.variables()):
            rule = "be written in q alone, but for variables with a lower bound above which all else gets worse"
            raise InvalidInput(field, str(stated), rule, "use cvxpy atoms such as cvxpy.max")

    def _require_values(self, stated: Any, field: str, kind: Any, rule: str) -> None:
        """An expression or a constraint of which all numbers are known and finite."""
        if not isinstance(stated, kind):
            raise InvalidInput(field, stated, rule)
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
                raise InvalidInput(_called(self.keys[count - 1]), str(self.constraints[count - 1]), rule)

    def _is_affine(self, constraint: Any) -> bool:
        is_row = self._is_equality(constraint) or isinstance(constraint, self._cvxpy.constraints.nonpos.Inequality)
        return is_row and bool(constraint.expr.is_affine())

    def _is_equality(self, constraint: Any) -> bool:
        return isinstance(constraint, self._cvxpy.constraints.zero.Equality)


def _called(key: int | str) -> str:
    """A constraint, as errors name it."""
    return f"constraints[{key!r}]"


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
