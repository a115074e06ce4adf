"""A design problem of your own: a convex objective and constraints in CVXPY on the table ``q[x, y]``.

**Formulation.** The user's ``objective(q)`` is minimised subject to the user's ``constraints(q)`` and, added here,
``mu(y) <= q[x, y] <= c mu(y)`` for a free base measure mu and ``sum_y q[x, y] = 1``: together exactly epsilon-LDP.

**Answer.** The solver's table is moved to one that is epsilon-LDP in exact arithmetic; the objective is reported at
that table, and a table that breaks the user's constraints by more than ``tolerance`` is withheld.

**Proof.** Where objective and constraints are linear in q the solver's multipliers prove a lower bound in rational
arithmetic (`mechdesign.proof.linear`), for all tables that meet the constraints up to the same tolerance. For other
convex problems the bound is the solver's word, and the certificate says ``claimed``.
"""

from __future__ import annotations

import inspect
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.private_table import fitting_base, private_table
from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer, require_epsilon, require_finite
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.proof.finite import EVERYWHERE_ON_OUTPUTS, matrix_digest
from mechdesign.proof.linear import LinearBound
from solvers import Cvxpy, Limits, Solution, Status

Floats = NDArray[np.float64]
Objective = Callable[[Any], Any]
Constraints = Callable[[Any], Sequence[Any]]

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10_000
_MOST_COEFFICIENTS = 2_000_000  # of linear constraints, in a proof
_UNUSED = 1e-9
_NEGLIGIBLE = 1e-12
_CLAIMED = 1e-7  # what a claimed bound allows for the solver's own tolerance


@dataclass(frozen=True, slots=True, eq=False)
class CustomProblem:
    """Minimise ``objective(q)`` over epsilon-LDP tables that meet ``constraints(q)``.

    Both receive a CVXPY variable of shape (inputs, outputs) with entries at least 0. The objective must be convex in q
    and at least 0 at its optimum; constraints are a list. Both must be written in q alone. Where all is linear, an
    answer's proven bounds are at most ``gap`` apart, relative to the upper one, or 1e-12 of the largest coefficient.
    """

    epsilon: float
    inputs: Finite
    outputs: Finite
    objective: Objective
    constraints: Constraints | None = None
    tolerance: float = 1e-6
    gap: float = 1e-4

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            raise InvalidInput("eps", self.epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} here")
        for name in ("inputs", "outputs"):
            domain = getattr(self, name)
            object.__setattr__(self, name, domain if isinstance(domain, Finite) else Finite(tuple(domain)))
        if len(self.inputs) * len(self.outputs) > MOST_ENTRIES:
            rule = f"make a table of at most {MOST_ENTRIES} entries"
            raise InvalidInput("inputs", f"{len(self.inputs)} x {len(self.outputs)}", rule)
        for name in ("objective", "constraints"):
            if not callable(getattr(self, name)) and (name == "objective" or self.constraints is not None):
                raise InvalidInput(name, getattr(self, name), "be a function of the table q", f"{name}=lambda q: ...")
        if not 0 < require_finite(self.tolerance, "tolerance") <= 1e-2:
            raise InvalidInput("tolerance", self.tolerance, "lie in (0, 0.01]")
        if not 0 < require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, "lie between 0 and 1")
        for name in ("tolerance", "gap"):
            object.__setattr__(self, name, float(getattr(self, name)))

    def to_dict(self) -> dict[str, Any]:
        model = _Model(self)
        linear = model.linear()
        said = dict.fromkeys(("costs", "offset", "rows", "limits", "equal"))
        return {
            "kind": "custom",
            "epsilon": self.epsilon,
            "inputs": domain_to_dict(self.inputs),
            "outputs": domain_to_dict(self.outputs),
            "objective": str(model.objective),
            "constraints": [str(constraint) for constraint in model.constraints],
            "tolerance": self.tolerance,
            "gap": self.gap,
        } | (said if linear is None else linear.to_dict())


def custom(
    epsilon: float,
    inputs: Finite | Sequence[float],
    outputs: Finite | Sequence[float],
    objective: Objective,
    constraints: Constraints | None = None,
    *,
    tolerance: float = 1e-6,
    gap: float = 1e-4,
    seconds: float | None = None,
) -> Design:
    """The certified answer to a problem of your own; see `CustomProblem` for what may be asked.

    A new mechanism in ten lines: the least average error on five points that leaves the middle unbiased.

    >>> import cvxpy as cp
    >>> points = np.linspace(-1, 1, 5)
    >>> loss = abs(points[:, None] - points[None, :])
    >>> design = custom(
    ...     1.0, points, points,
    ...     objective=lambda q: cp.sum(cp.multiply(loss, q)) / 5,
    ...     constraints=lambda q: [q[2] @ points == 0],
    ... )
    >>> print(design.certificate.valid_for)
    all mechanisms with these outputs that meet the stated constraints within 1e-06
    >>> [round(end, 4) for end in (design.certificate.lower, design.certificate.upper)]
    [0.4967, 0.4967]
    """
    domains = _domain(inputs, "inputs"), _domain(outputs, "outputs")
    problem = CustomProblem(epsilon, *domains, objective, constraints, tolerance, gap)
    return optimal_custom(problem, seconds)


def optimal_custom(problem: CustomProblem, seconds: float | None = None) -> Design:
    """The answer to a `CustomProblem`, or `NoAnswer` if the solver did not reach an optimum or the proof its gap."""
    if seconds is not None and not require_finite(seconds, "seconds") > 0:
        raise InvalidInput("seconds", seconds, "be finite and above 0")
    started = time.perf_counter()
    model = _Model(problem)
    solution, mechanism, attained, evidence = model.answer(None if seconds is None else started + seconds)
    if evidence is None:
        upper = attained
        size = math.ldexp(1.0, model.exponent)
        lower = min(model.solved - _CLAIMED * max(size, abs(upper)), upper)
        lower = max(lower, 0.0) if model.objective.is_nonneg() else lower
        scope = EVERYWHERE_ON_OUTPUTS + (" that meet the stated constraints" if model.constraints else "")
    else:
        lower, upper, scope = evidence.bound(mechanism), evidence.attained(mechanism), evidence.scope(mechanism)
    if lower < 0:
        raise InvalidInput("objective", lower, "be at least 0 at its optimum", "add a constant to the objective")
    if evidence is not None and not model.is_near(lower, upper):
        step = "; a smaller tolerance may narrow it" if model.constraints else ""
        raise NoAnswer(f"the relative gap {(upper - lower) / upper:.2g} is above {problem.gap:g}{step}", lower, upper)
    certificate = Certificate(lower, upper, scope, evidence is None, mechanism.privacy_loss(), evidence)
    report = Report(
        time.perf_counter() - started,
        solution.solver,
        versions("numpy", "scipy", "cvxpy", "highspy", "clarabel"),
        MappingProxyType({"outputs": len(mechanism.outputs), "linear": evidence is not None}),
    )
    return Design(problem, mechanism, certificate, report)


@dataclass(frozen=True, slots=True, eq=False)
class _Linear:
    """Coefficients of a linear problem; constraints are ``rows[k] . q <= limits[k]``, or ``=``."""

    costs: Floats
    offset: float
    rows: Floats
    limits: Floats
    equal: tuple[bool, ...]

    def to_dict(self) -> dict[str, Any]:
        rows = matrix_digest(self.rows.reshape(len(self.equal), self.costs.size))
        costs = matrix_digest(self.costs)
        limits, equal = self.limits.tolist(), list(self.equal)
        return {"costs": costs, "offset": self.offset, "rows": rows, "limits": limits, "equal": equal}


class _Model:
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
        self._privacy = [self.q >= spread, self.q <= math.exp(problem.epsilon) * spread, self._sums]

    def answer(self, deadline: float | None) -> tuple[Solution, Discrete, float, LinearBound | None]:
        """Solution, mechanism, its objective and proof; again in a finer scale where tolerances were too coarse."""
        self.exponent = self._first_exponent()
        least, proven = math.inf, -math.inf
        for is_last in (False, False, False, True):
            try:
                solution = self.solve(None if deadline is None else max(1e-6, deadline - time.perf_counter()))
            except NoAnswer as error:
                raise NoAnswer(error.reason, proven, least) from None
            mechanism = self.mechanism()
            attained = self.attained(mechanism)
            evidence = self.evidence()
            if evidence is None:
                break
            lower, upper = evidence.bound(mechanism), evidence.attained(mechanism)
            least, proven = min(least, upper), max(proven, lower)
            finer = _exponent(upper - self._shift)
            if is_last or self.is_near(lower, upper) or finer >= self.exponent:
                break
            self.exponent = finer
        return solution, mechanism, attained, evidence

    def is_near(self, lower: float, upper: float) -> bool:
        """Whether proven bounds are as near to each other as the problem asks."""
        assert self._costs is not None
        return upper - lower <= max(self.problem.gap * upper, _NEGLIGIBLE * float(np.abs(self._costs).max()))

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

    def linear(self) -> _Linear | None:
        """The coefficients, if all is linear and they are few enough for a proof."""
        if not self.objective.is_affine() or not all(self._is_affine(c) for c in self.constraints):
            return None
        sizes = sum(int(constraint.expr.size) for constraint in self.constraints)
        if sizes * self.q.size > _MOST_COEFFICIENTS:
            return None
        kept = self.q.value
        costs, offsets = self._coefficients(self.objective)
        parts = [self._coefficients(constraint.expr) for constraint in self.constraints]
        self.q.value = kept
        rows = np.concatenate([np.empty((0, *self.shape)), *(rows for rows, _ in parts)])
        limits = np.concatenate([np.empty(0), *(-constants for _, constants in parts)])
        equal = tuple(self._is_equality(c) for c in self.constraints for _ in range(int(c.expr.size)))
        return _Linear(costs[0], float(offsets[0]), rows, limits, equal)

    def evidence(self) -> LinearBound | None:
        """The proof from the multipliers of the row sums and of the user's constraints."""
        linear = self.linear()
        if linear is None or any(value is None for value in self._multipliers):
            return None
        flat = [np.ravel(np.asarray(value, dtype=np.float64), order="F") for value in self._multipliers]
        flat = [np.ldexp(values, self.exponent) for values in flat]
        multipliers = np.concatenate([np.empty(0), *flat[1:]])
        multipliers = np.where(linear.equal, multipliers, np.maximum(multipliers, 0.0))
        problem = self.problem
        return LinearBound(
            problem.epsilon,
            problem.inputs,
            problem.outputs,
            linear.costs,
            linear.offset,
            self._least[:, 0] - flat[0],
            linear.rows,
            linear.limits,
            linear.equal,
            multipliers,
            problem.tolerance,
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


def _domain(points: Finite | Sequence[float], field: str) -> Finite:
    if isinstance(points, Finite):
        return points
    if np.ma.isMaskedArray(points):
        raise InvalidInput(field, "a masked array", "be a Finite domain or a list of numbers")
    try:
        return Finite(tuple(points))
    except TypeError:
        raise InvalidInput(field, points, "be a Finite domain or a list of numbers") from None
