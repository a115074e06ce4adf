"""Cutting planes: solve, ask which rows are violated, add them, solve again."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from numpy.typing import ArrayLike

from .errors import LimitReached
from .highs import Highs, HighsSession
from .programs import Limits, LinearProgram, Matrix
from .solution import Solution, Status

_LEAST_STEPS, _STEPS_A_LINE = 2000, 20  # of the simplex method: it needs a few a line, or it cycles


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Constraints ``row_lower <= matrix @ x <= row_upper`` to add; scalars apply to all rows."""

    matrix: Matrix
    row_lower: ArrayLike = -math.inf
    row_upper: ArrayLike = math.inf


class CuttingPlanes:
    """A linear program that grows by the rows an oracle finds violated.

    The oracle receives the solution of the program so far and returns `Rows`, or None when it is content. A search that
    is no such loop adds rows and solves by itself. The basis is kept between solves; one on which the simplex method
    stalls or cycles is dropped, and the program handed to the interior point method.

    >>> planes = CuttingPlanes(LinearProgram.of(cost=[-1.0], matrix=[[1.0]], row_upper=8.0, lower=0))
    >>> tangent = lambda s: Rows([[2 * s.primal[0]]], row_upper=s.primal[0] ** 2 + 4) if s.primal[0] > 2.001 else None
    >>> solution, rounds = planes.run(tangent)  # x^2 <= 4 by tangents
    >>> bool(2 <= solution.primal[0] <= 2.001), rounds
    (True, 6)
    """

    def __init__(self, program: LinearProgram, tolerance: float = 1e-10) -> None:
        self._tolerance = tolerance
        self.session: HighsSession = Highs(method="simplex", tolerance=tolerance).session(program)

    def add(self, rows: Rows) -> None:
        """Rows for the next solve."""
        self.session.add_rows(rows.matrix, rows.row_lower, rows.row_upper)

    def solve(self, deadline: float | None = None) -> Solution:
        """Solve the present program, or raise what its status means (`LimitReached` beyond the deadline).

        ``deadline`` is a reading of `time.perf_counter`.
        """
        if deadline is not None and time.perf_counter() >= deadline:
            raise LimitReached("cutting planes", Status.TIME_LIMIT, -math.inf, math.inf, 0.0)
        steps = _STEPS_A_LINE * (self.session.rows + self.session.columns) + _LEAST_STEPS
        solution = self.session.solve(_limits(deadline, steps))
        if solution.status not in (Status.OPTIMAL, Status.TIME_LIMIT):
            program = self.session.program
            solution = Highs(method="ipm", tolerance=self._tolerance).session(program).solve(_limits(deadline))
            self.session = Highs(method="simplex", tolerance=self._tolerance).session(program)
        return solution.require_optimal()

    def run(
        self, oracle: Callable[[Solution], Rows | None], deadline: float | None = None, rounds: int = 200
    ) -> tuple[Solution, int]:
        """The solution the oracle is content with, or the one after ``rounds`` of cuts, and the number of solves."""
        for done in range(1, rounds + 1):
            solution = self.solve(deadline)
            rows = oracle(solution)
            if rows is None:
                return solution, done
            self.add(rows)
        return self.solve(deadline), rounds + 1


def _limits(deadline: float | None, steps: int | None = None) -> Limits:
    # a limit must be above 0: a deadline that has passed still gets a microsecond
    seconds = None if deadline is None else max(1e-6, deadline - time.perf_counter())
    return Limits(seconds=seconds, iterations=steps)
