"""The cutting-plane loop: content oracles end it, deadlines and rounds stop it."""

from __future__ import annotations

import time

import numpy as np
import pytest
from mechdesign_solvers import CuttingPlanes, Infeasible, LimitReached, LinearProgram, Rows, Solution


def _disc(solution: Solution) -> Rows | None:
    """Tangents of the unit disc."""
    point = solution.primal
    assert point is not None
    norm = float(np.hypot(*point))
    return None if norm <= 1 + 1e-9 else Rows((point / norm)[None, :], row_upper=1.0)


def _square() -> CuttingPlanes:
    return CuttingPlanes(LinearProgram.of([-1.0, -2.0], np.zeros((1, 2)), lower=-2, upper=2))


def test_tangents_find_the_farthest_point_of_a_disc() -> None:
    solution, rounds = _square().run(_disc)
    assert solution.objective == pytest.approx(-np.sqrt(5), abs=1e-8)
    assert rounds > 3


def test_a_content_oracle_ends_the_loop_at_once() -> None:
    assert _square().run(lambda _: None)[1] == 1


def test_the_solution_after_the_last_round_obeys_every_row() -> None:
    planes = _square()
    solution, rounds = planes.run(_disc, rounds=2)
    assert rounds == 3
    assert solution.row_duals is not None
    assert solution.row_duals.size == planes.session.rows == 3


def test_a_deadline_in_the_past_raises_the_limit() -> None:
    with pytest.raises(LimitReached):
        _square().run(_disc, deadline=time.perf_counter() - 1)


def test_contradicting_rows_are_reported() -> None:
    with pytest.raises(Infeasible):
        _square().run(lambda _: Rows([[1.0, 0.0], [1.0, 0.0]], [1.0, -2.0], [2.0, 0.0]))


def test_rows_can_be_added_outside_the_loop() -> None:
    planes = _square()
    planes.add(Rows([[1.0, 1.0]], row_upper=1.0))
    assert planes.solve().objective == pytest.approx(-3.0)
