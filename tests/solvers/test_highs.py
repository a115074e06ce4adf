"""HiGHS: bounds from duals, and sessions that change and restart."""

import math

import numpy as np
import pytest
from mechdesign_solvers import (
    Highs,
    HighsSession,
    Limits,
    LinearProgram,
    ProgramError,
    Status,
    dual_objective,
    proves_infeasible,
    proves_unbounded,
)


def covering(rows: int, columns: int, seed: int = 1) -> LinearProgram:
    rng = np.random.default_rng(seed)
    matrix = rng.random((rows, columns)) * (rng.random((rows, columns)) < 0.3) + 1e-3
    return LinearProgram.of(rng.random(columns) + 0.1, matrix, 1, lower=0)


def test_bound_is_the_dual_objective_and_meets_the_primal() -> None:
    program = covering(30, 50)
    solution = Highs().solve(program)
    assert solution.bound == pytest.approx(dual_objective(program, solution.row_duals), rel=1e-9)
    assert solution.bound == pytest.approx(solution.objective, rel=1e-9)
    assert program.violation_at(solution.primal) <= 1e-8


def test_warm_start_after_new_rows_equals_a_cold_solve() -> None:
    program = covering(20, 40)
    rng = np.random.default_rng(2)
    cuts = rng.random((10, 40)) * (rng.random((10, 40)) < 0.3)
    session = HighsSession(program)
    before = session.solve()
    session.add_rows(cuts, row_lower=0.8)
    warm, cold = session.solve(), Highs().solve(session.program)
    assert session.program.rows == 30
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
    assert warm.bound == pytest.approx(cold.objective, rel=1e-9)
    assert warm.objective > before.objective


def test_warm_start_after_new_columns_equals_a_cold_solve() -> None:
    program = covering(20, 40)
    rng = np.random.default_rng(3)
    session = HighsSession(program)
    before = session.solve()
    session.add_columns(rng.random(10) * 0.3, rng.random((20, 10)), lower=0, upper=0.5)
    warm, cold = session.solve(), Highs().solve(session.program)
    assert session.program.columns == 50
    assert warm.objective == pytest.approx(cold.objective, rel=1e-9)
    assert warm.objective < before.objective


def test_restart_takes_fewer_steps_than_a_start_from_nothing() -> None:
    session = HighsSession(covering(150, 300), method="simplex")
    first = session.solve()
    session.add_rows(np.ones((1, 300)), row_lower=1.01 * first.primal.sum())
    warm = session.solve()
    cold = HighsSession(session.program, method="simplex").solve()
    assert 0 < warm.iterations < cold.iterations / 2


def test_added_rows_and_columns_leave_the_program_one_would_state() -> None:
    session = HighsSession(LinearProgram.of([1, 2], [[1, 1], [1, 0]], [1, 0], [2, 5], lower=0))
    session.add_columns([3], [[4], [0]], upper=7)
    session.add_rows([[0, 5, 6]], row_upper=8)
    program = session.program
    assert program.matrix.toarray().tolist() == [[1, 1, 4], [1, 0, 0], [0, 5, 6]]
    assert program.row_lower.tolist() == [1, 0, -math.inf]
    assert program.row_upper.tolist() == [2, 5, 8]
    assert program.upper.tolist() == [math.inf, math.inf, 7]


def test_changed_cost_and_bounds_take_effect() -> None:
    session = HighsSession(LinearProgram.of([1, 2], [[1, 1]], 1, lower=0))
    assert session.solve().objective == 1
    session.change_cost([3, 2])
    assert session.solve().objective == 2
    session.change_row_bounds(row_lower=1.5, row_upper=math.inf)
    assert session.solve().objective == 3


def test_a_session_can_become_infeasible_and_recover() -> None:
    session = HighsSession(covering(4, 6))
    first = session.solve().objective
    session.add_rows(np.ones((1, 6)), row_upper=-1)
    broken = session.solve()
    assert broken.status is Status.INFEASIBLE
    assert proves_infeasible(session.program, broken.ray)
    session.change_row_bounds(session.program.row_lower, [*session.program.row_upper[:-1], math.inf])
    assert session.solve().objective == pytest.approx(first, rel=1e-9)


@pytest.mark.parametrize("method", ["simplex", "ipm"])
def test_methods_agree(method: str) -> None:
    program = covering(25, 60)
    assert Highs(method).solve(program).objective == pytest.approx(Highs().solve(program).objective, rel=1e-8)


def test_iteration_limit_is_a_limit_and_not_an_answer() -> None:
    solution = HighsSession(covering(100, 200), method="simplex").solve(Limits(iterations=3))
    optimum = Highs().solve(covering(100, 200)).objective
    assert solution.status is Status.ITERATION_LIMIT
    assert solution.bound <= optimum


def test_time_limit_counts_from_each_solve_and_not_from_the_session() -> None:
    session = HighsSession(covering(100, 200), method="simplex")
    costs = np.random.default_rng(4).random((1000, 200)) + 0.1
    spent = 0.0
    for cost in costs:
        session.change_cost(cost)
        spent += session.solve().seconds
        if spent > 1.0:
            break
    assert spent > 1.0
    session.change_cost(costs[-1])
    assert session.solve(Limits(seconds=0.5)).status is Status.OPTIMAL


def test_time_limit_is_a_limit_and_not_an_answer() -> None:
    solution = HighsSession(covering(300, 600), method="simplex").solve(Limits(seconds=1e-4))
    assert solution.status is Status.TIME_LIMIT


def test_contradicting_rows_give_farkas_multipliers() -> None:
    clash = LinearProgram.of([0, 0, 0], [[1, 1, 0], [0, -1, 1], [1, 0, 1]], [2, 0, -math.inf], [9, 9, 1], lower=0)
    solution = Highs().solve(clash)
    assert solution.status is Status.INFEASIBLE
    assert proves_infeasible(clash, solution.ray)


def test_unbounded_program_gives_a_ray() -> None:
    wedge = LinearProgram.of([-1, 0], [[1, -1]], row_upper=0, lower=0)
    solution = Highs().solve(wedge)
    assert solution.status is Status.UNBOUNDED
    assert proves_unbounded(wedge, solution.ray)


def test_unbounded_without_rows_gives_a_ray() -> None:
    free = LinearProgram.of([1, -1], np.zeros((0, 2)), lower=0)
    solution = Highs().solve(free)
    assert solution.status is Status.UNBOUNDED
    assert proves_unbounded(free, solution.ray)


def test_wrongly_shaped_changes_are_rejected_and_leave_the_session_sound() -> None:
    session = HighsSession(covering(3, 4))
    before = session.solve().objective
    with pytest.raises(ProgramError):
        session.add_rows(np.ones((1, 5)), row_lower=1)
    with pytest.raises(ProgramError):
        session.add_columns([1], np.ones((2, 1)))
    with pytest.raises(ProgramError):
        session.change_cost([1, 2, 3, math.nan])
    assert session.solve().objective == before


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    Highs().solve(covering(10, 10))
    assert capfd.readouterr() == ("", "")
