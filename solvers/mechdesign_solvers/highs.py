"""HiGHS: linear programs, once or as a session that grows rows and columns and restarts from its basis."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array, csr_array, hstack, identity, vstack

from .duality import bound_from_duals, proves_infeasible, proves_unbounded
from .errors import ProgramError
from .programs import NO_LIMITS, FloatArray, Limits, LinearProgram, Matrix, Program
from .protocol import Capability, kind_of, load_backend, require
from .solution import Solution, Status

_STATUS = {
    "kOptimal": Status.OPTIMAL,
    "kModelEmpty": Status.OPTIMAL,
    "kInfeasible": Status.INFEASIBLE,
    "kUnbounded": Status.UNBOUNDED,
    "kTimeLimit": Status.TIME_LIMIT,
    "kIterationLimit": Status.ITERATION_LIMIT,
    "kUnknown": Status.INACCURATE,
}
_UNDECIDED = "kUnboundedOrInfeasible"

Method = Literal["choose", "simplex", "ipm"]


@dataclass(frozen=True, slots=True)
class Highs:
    """The HiGHS solver for linear programs.

    >>> program = LinearProgram.of(cost=[2, 3], matrix=[[1, 1]], row_lower=1, lower=0)
    >>> solution = Highs().solve(program)
    >>> solution.status.value, solution.objective, solution.bound
    ('optimal', 2.0, 2.0)
    >>> solution.row_duals.tolist(), solution.reduced_costs.tolist()
    ([2.0], [0.0, 1.0])
    """

    method: Method = "choose"
    tolerance: float = 1e-9

    @property
    def name(self) -> str:
        return "HiGHS"

    @property
    def capabilities(self) -> Capability:
        return Capability.LINEAR | Capability.DUALS | Capability.RAYS | Capability.DUAL_BOUND | Capability.WARM_START

    def solve(self, program: Program, limits: Limits = NO_LIMITS) -> Solution:
        """Solve a linear program from scratch."""
        return self.session(program).solve(limits)

    def session(self, program: Program) -> HighsSession:
        """Open a session on a program, to change it and solve again from the last basis."""
        require(self, kind_of(program))
        assert isinstance(program, LinearProgram)
        return HighsSession(program, self.method, self.tolerance)


class HighsSession:
    """A linear program that lives inside HiGHS: change it, solve again, and it restarts from its last basis.

    >>> session = HighsSession(LinearProgram.of(cost=[1, 1], matrix=[[1, 2]], row_lower=2, lower=0))
    >>> session.solve().objective
    1.0
    >>> session.add_rows([[2, 1]], row_lower=2)
    >>> round(session.solve().objective, 12)
    1.333333333333
    >>> session.add_columns(cost=[0.5], matrix=[[1], [1]], lower=0)
    >>> session.solve().objective
    1.0
    """

    def __init__(self, program: LinearProgram, method: Method = "choose", tolerance: float = 1e-9) -> None:
        self._highspy = load_backend("HiGHS", "highspy", "mechdesign")
        self._tolerance = tolerance
        # Kept beside HiGHS: reading its matrix back costs seconds on large programs.
        self._cost, self._lower, self._upper = program.cost, program.lower, program.upper
        self._row_lower, self._row_upper = program.row_lower, program.row_upper
        self._row_blocks = [program.matrix]
        self._highs = self._highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("solver", method),
            ("primal_feasibility_tolerance", tolerance),
            ("dual_feasibility_tolerance", tolerance),
        ):
            self._accept(self._highs.setOptionValue(option, value), option)
        self._accept(self._highs.passModel(_highs_model(self._highspy, program)), "the program")

    @property
    def rows(self) -> int:
        """The number of constraints now."""
        return int(self._row_lower.size)

    @property
    def columns(self) -> int:
        """The number of variables now."""
        return int(self._cost.size)

    @property
    def program(self) -> LinearProgram:
        """The program as it stands now (built on request)."""
        return LinearProgram(self._cost, self._matrix(), self._row_lower, self._row_upper, self._lower, self._upper)

    def add_rows(self, matrix: Matrix, row_lower: ArrayLike = -math.inf, row_upper: ArrayLike = math.inf) -> None:
        """Append constraints, one per row of ``matrix``; scalars apply to all of them."""
        new = LinearProgram.of(self._cost, matrix, row_lower, row_upper)
        self._accept(
            self._highs.addRows(new.rows, new.row_lower, new.row_upper, new.matrix.nnz, *_compressed(new.matrix)),
            "new rows",
        )
        self._row_blocks.append(new.matrix)
        self._row_lower = np.concatenate([self._row_lower, new.row_lower])
        self._row_upper = np.concatenate([self._row_upper, new.row_upper])

    def add_columns(
        self,
        cost: ArrayLike,
        matrix: Matrix,
        lower: ArrayLike = -math.inf,
        upper: ArrayLike = math.inf,
    ) -> None:
        """Append variables, one per column of ``matrix``, whose rows are the present rows."""
        new = LinearProgram.of(cost, matrix, lower=lower, upper=upper)
        if new.rows != self.rows:
            raise ProgramError("matrix", f"{new.rows} rows", f"must have the {self.rows} rows of the program")
        by_column = csc_array(new.matrix)
        self._accept(
            self._highs.addCols(new.columns, new.cost, new.lower, new.upper, by_column.nnz, *_compressed(by_column)),
            "new columns",
        )
        self._row_blocks = [csr_array(hstack([self._matrix(), new.matrix], format="csr"))]
        self._cost = np.concatenate([self._cost, new.cost])
        self._lower = np.concatenate([self._lower, new.lower])
        self._upper = np.concatenate([self._upper, new.upper])

    def change_cost(self, cost: ArrayLike) -> None:
        """Replace the whole cost vector."""
        self._cost = LinearProgram.of(cost, csr_array((0, self.columns))).cost
        self._accept(self._highs.changeColsCost(self.columns, _all(self.columns), self._cost), "cost")

    def change_row_bounds(self, row_lower: ArrayLike, row_upper: ArrayLike) -> None:
        """Replace both sides of every row; scalars apply to all."""
        new = LinearProgram.of(np.zeros(1), csr_array((self.rows, 1)), row_lower, row_upper)
        self._row_lower, self._row_upper = new.row_lower, new.row_upper
        self._accept(
            self._highs.changeRowsBounds(self.rows, _all(self.rows), new.row_lower, new.row_upper), "row bounds"
        )

    def solve(self, limits: Limits = NO_LIMITS) -> Solution:
        """Solve the present program, starting from the last basis if there is one."""
        started = time.perf_counter()
        self._limit(limits)
        outcome = self._run()
        if outcome == _UNDECIDED:
            # Presolve met a contradiction it did not attribute; only simplex without it tells which.
            outcome = self._run_plain_simplex()
        status = _STATUS.get(outcome, Status.FAILED)
        return self._solution(status, outcome, time.perf_counter() - started)

    def _matrix(self) -> csr_array:
        if len(self._row_blocks) > 1:
            self._row_blocks = [csr_array(vstack(self._row_blocks, format="csr"))]
        return self._row_blocks[0]

    def _run(self) -> str:
        self._highs.run()
        return str(self._highs.getModelStatus().name)

    def _run_plain_simplex(self) -> str:
        kept = {option: self._highs.getOptionValue(option)[1] for option in ("presolve", "solver")}
        self._highs.setOptionValue("presolve", "off")
        self._highs.setOptionValue("solver", "simplex")
        try:
            return self._run()
        finally:
            for option, value in kept.items():
                self._highs.setOptionValue(option, value)

    def _limit(self, limits: Limits) -> None:
        # HiGHS counts its clock from the start of the session, so the limit is moved along with it.
        seconds = math.inf if limits.seconds is None else self._highs.getRunTime() + limits.seconds
        self._highs.setOptionValue("time_limit", seconds)
        steps = np.iinfo(np.int32).max if limits.iterations is None else limits.iterations
        for option in ("simplex_iteration_limit", "ipm_iteration_limit"):
            self._highs.setOptionValue(option, int(steps))

    def _solution(self, status: Status, outcome: str, seconds: float) -> Solution:
        info = self._highs.getInfo()
        steps = max(0, info.simplex_iteration_count) + max(0, info.ipm_iteration_count)
        reached = self._highs.getSolution()
        primal = duals = reduced = None
        objective = None
        bound = -math.inf
        if status not in (Status.INFEASIBLE, Status.UNBOUNDED, Status.FAILED):
            feasible = status is Status.OPTIMAL or info.primal_solution_status == 2
            if reached.value_valid and feasible:
                primal = np.array(reached.col_value)
                objective = float(self._cost @ primal)
            dual_feasible = status is Status.OPTIMAL or info.dual_solution_status == 2
            if reached.dual_valid and dual_feasible:
                duals, reduced = np.array(reached.row_dual), np.array(reached.col_dual)
                bound = bound_from_duals(duals, reduced, self._row_lower, self._row_upper, self._lower, self._upper)
        return Solution(
            status=status,
            solver="HiGHS",
            version=self._highs.version(),
            seconds=seconds,
            primal=primal,
            objective=objective,
            bound=math.inf if status is Status.INFEASIBLE else bound,
            row_duals=duals,
            reduced_costs=reduced,
            ray=self._ray(status),
            iterations=int(steps),
            message=outcome.removeprefix("k"),
        )

    def _ray(self, status: Status) -> FloatArray | None:
        """HiGHS' own certificate if it holds; otherwise one from an auxiliary program which always has it."""
        if status is Status.INFEASIBLE:
            _, known, ray = self._highs.getDualRay()
            if known and proves_infeasible(self.program, np.array(ray)):
                return np.array(ray)
            return _least_violation_duals(self.program, self._tolerance)
        if status is Status.UNBOUNDED:
            _, known, ray = self._highs.getPrimalRay()
            if known and proves_unbounded(self.program, np.array(ray)):
                return np.array(ray)
            return _steepest_recession(self.program, self._tolerance)
        return None

    def _accept(self, answer: Any, what: str) -> None:
        if answer == self._highspy.HighsStatus.kError:
            raise ProgramError(what, "data", "was refused by HiGHS")


def _least_violation_duals(program: LinearProgram, tolerance: float) -> FloatArray | None:
    """Multipliers of ``min sum(p + q)`` over ``row_lower <= matrix @ x + p - q <= row_upper``: Farkas' own."""
    eye = identity(program.rows, format="csr")
    relaxed = LinearProgram.of(
        np.concatenate([np.zeros(program.columns), np.ones(2 * program.rows)]),
        hstack([program.matrix, eye, -eye], format="csr"),
        program.row_lower,
        program.row_upper,
        np.concatenate([program.lower, np.zeros(2 * program.rows)]),
        np.concatenate([program.upper, np.full(2 * program.rows, math.inf)]),
    )
    duals = HighsSession(relaxed, "simplex", tolerance).solve().row_duals
    return duals if duals is not None and proves_infeasible(program, duals) else None


def _steepest_recession(program: LinearProgram, tolerance: float) -> FloatArray | None:
    """The cheapest direction of unit size along which every row and bound is kept."""
    recession = LinearProgram.of(
        program.cost,
        program.matrix,
        np.where(np.isneginf(program.row_lower), -math.inf, 0.0),
        np.where(np.isposinf(program.row_upper), math.inf, 0.0),
        np.where(np.isneginf(program.lower), -1.0, 0.0),
        np.where(np.isposinf(program.upper), 1.0, 0.0),
    )
    direction = HighsSession(recession, "simplex", tolerance).solve().primal
    return direction if direction is not None and proves_unbounded(program, direction) else None


def _highs_model(highspy: Any, program: LinearProgram) -> Any:
    model = highspy.HighsLp()
    model.num_col_, model.num_row_ = program.columns, program.rows
    model.col_cost_ = program.cost
    model.col_lower_, model.col_upper_ = program.lower, program.upper
    model.row_lower_, model.row_upper_ = program.row_lower, program.row_upper
    entries = model.a_matrix_
    entries.format_ = highspy.MatrixFormat.kRowwise
    entries.num_col_, entries.num_row_ = program.columns, program.rows
    entries.start_, entries.index_, entries.value_ = (
        program.matrix.indptr,
        program.matrix.indices,
        program.matrix.data,
    )
    return model


def _compressed(matrix: csr_array | csc_array) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray]:
    return matrix.indptr[:-1].astype(np.int32), matrix.indices.astype(np.int32), matrix.data


def _all(size: int) -> NDArray[np.int32]:
    return np.arange(size, dtype=np.int32)
