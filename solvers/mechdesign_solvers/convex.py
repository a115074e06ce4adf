"""CVXPY: linear programs and any convex problem a user states in CVXPY, solved by Clarabel or HiGHS."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Literal

import numpy as np

from .duality import dual_objective
from .errors import NotSupported
from .programs import NO_LIMITS, BilinearProgram, FloatArray, Limits, LinearProgram
from .protocol import Capability, load_backend, require
from .solution import Solution, Status

_STATUS = {
    "optimal": Status.OPTIMAL,
    "optimal_inaccurate": Status.INACCURATE,
    "infeasible": Status.INFEASIBLE,
    "infeasible_inaccurate": Status.INACCURATE,
    "unbounded": Status.UNBOUNDED,
    "unbounded_inaccurate": Status.INACCURATE,
    "infeasible_or_unbounded": Status.FAILED,
    "user_limit": Status.TIME_LIMIT,
}
_PACKAGE = {"clarabel": "clarabel", "highs": "highspy"}

Engine = Literal["clarabel", "highs"]


@dataclass(frozen=True, slots=True)
class Cvxpy:
    """CVXPY with Clarabel (interior point, cones) or HiGHS (linear) behind it.

    Clarabel calls a program unbounded when it finds a ray, without asking for a feasible point; a program
    that is both infeasible and has a ray may be reported as either.

    >>> program = LinearProgram.of(cost=[2, 3], matrix=[[1, 1]], row_lower=1, lower=0)
    >>> solution = Cvxpy().solve(program)
    >>> solution.status.value, round(solution.objective, 6), round(solution.bound, 6)
    ('optimal', 2.0, 2.0)
    """

    engine: Engine = "clarabel"

    @property
    def name(self) -> str:
        return f"CVXPY ({'Clarabel' if self.engine == 'clarabel' else 'HiGHS'})"

    @property
    def capabilities(self) -> Capability:
        return Capability.LINEAR | Capability.CONVEX | Capability.DUALS | Capability.DUAL_BOUND

    def solve(self, program: Any, limits: Limits = NO_LIMITS) -> Solution:
        """Solve a ``LinearProgram``, or a ``cvxpy.Problem`` that minimises.

        For a problem of the user's, ``primal`` strings together the values of ``problem.variables()`` in
        that order, each flattened row by row; the variables also hold their values, as CVXPY users
        expect. Its duals stay on its constraints and no bound is claimed.
        """
        if isinstance(program, BilinearProgram):
            require(self, Capability.BILINEAR)
        cvxpy = load_backend("CVXPY", "cvxpy", "mechdesign")
        load_backend(self.name, _PACKAGE[self.engine], "mechdesign")
        if isinstance(program, LinearProgram):
            return self._solve_linear(cvxpy, program, limits)
        if not isinstance(program, cvxpy.Problem):
            raise NotSupported(f"{self.name} takes a LinearProgram or a cvxpy.Problem, not {type(program).__name__}")
        if isinstance(program.objective, cvxpy.Maximize):
            raise NotSupported(f"{self.name} minimises; state the problem as cvxpy.Minimize of the negative")
        if not program.is_dcp():
            raise NotSupported(f"{self.name} needs a problem that follows the rules of disciplined convex programming")
        status, seconds, steps, message = self._run(cvxpy, program, limits)
        primal = None
        if status in (Status.OPTIMAL, Status.INACCURATE) and program.value is not None:
            parts = [np.ravel(np.asarray(variable.value, dtype=float)) for variable in program.variables()]
            primal = np.concatenate(parts) if parts else np.zeros(0)
        return Solution(
            status=status,
            solver=self.name,
            version=self._version(),
            seconds=seconds,
            primal=primal,
            objective=None if primal is None else float(program.value),
            bound=math.inf if status is Status.INFEASIBLE else -math.inf,
            iterations=steps,
            message=message,
        )

    def _solve_linear(self, cvxpy: Any, program: LinearProgram, limits: Limits) -> Solution:
        x = cvxpy.Variable(program.columns)
        sides = [
            _Side(cvxpy, program.matrix, x, program.row_lower, 1.0),
            _Side(cvxpy, program.matrix, x, program.row_upper, -1.0),
            _Side(cvxpy, None, x, program.lower, 1.0),
            _Side(cvxpy, None, x, program.upper, -1.0),
        ]
        problem = cvxpy.Problem(
            cvxpy.Minimize(program.cost @ x), [side.constraint for side in sides if side.constraint is not None]
        )
        status, seconds, steps, message = self._run(cvxpy, problem, limits)
        primal = duals = reduced = None
        bound = math.inf if status is Status.INFEASIBLE else -math.inf
        if status in (Status.OPTIMAL, Status.INACCURATE) and x.value is not None:
            primal = np.asarray(x.value, dtype=float)
            duals = sides[0].dual() - sides[1].dual()
            reduced = program.cost - program.matrix.T @ duals
            bound = dual_objective(program, duals)
        return Solution(
            status=status,
            solver=self.name,
            version=self._version(),
            seconds=seconds,
            primal=primal,
            objective=None if primal is None else program.objective_at(primal),
            bound=bound,
            row_duals=duals,
            reduced_costs=reduced,
            iterations=steps,
            message=message,
        )

    def _run(self, cvxpy: Any, problem: Any, limits: Limits) -> tuple[Status, float, int, str]:
        started = time.perf_counter()
        try:
            with warnings.catch_warnings():
                # CVXPY warns of inaccuracy; here that is a status.
                warnings.simplefilter("ignore")
                problem.solve(solver=self.engine.upper(), **self._options(limits))
        except cvxpy.error.SolverError as error:
            return Status.FAILED, time.perf_counter() - started, 0, str(error).splitlines()[0]
        seconds = time.perf_counter() - started
        steps = getattr(problem.solver_stats, "num_iters", None)
        status = _STATUS.get(problem.status, Status.FAILED)
        late = limits.seconds is not None and seconds >= limits.seconds
        if status is Status.TIME_LIMIT and not late:
            status = Status.ITERATION_LIMIT
        return status, seconds, int(steps or 0), str(problem.status)

    def _options(self, limits: Limits) -> dict[str, Any]:
        options: dict[str, Any] = {}
        if limits.seconds is not None:
            options["time_limit"] = limits.seconds
        if limits.iterations is not None and self.engine == "clarabel":
            options["max_iter"] = limits.iterations
        if limits.iterations is not None and self.engine == "highs":
            options["simplex_iteration_limit"] = limits.iterations
        return options

    def _version(self) -> str:
        package = _PACKAGE[self.engine]
        try:
            return f"cvxpy {version('cvxpy')} / {package} {version(package)}"
        except PackageNotFoundError:
            return "unknown"


class _Side:
    """The finite entries of one side of the rows or bounds, as one CVXPY constraint with its multipliers."""

    def __init__(self, cvxpy: Any, matrix: Any, x: Any, limit: FloatArray, sign: float) -> None:
        self._finite = np.flatnonzero(np.isfinite(limit))
        self._size = limit.size
        self.constraint = None
        if self._finite.size:
            values = x[self._finite] if matrix is None else matrix[self._finite] @ x
            self.constraint = sign * values >= sign * limit[self._finite]

    def dual(self) -> FloatArray:
        """Multipliers of the whole side, at least zero, and zero where it is infinite."""
        spread = np.zeros(self._size)
        if self.constraint is not None:
            spread[self._finite] = np.maximum(np.asarray(self.constraint.dual_value, dtype=float), 0.0)
        return spread
