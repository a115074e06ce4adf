"""The oracle suite: every solver gives the same answer to the same small linear program.

The exact simplex is the reference; its own answers are checked by exact arithmetic in
``test_exact.py``. Integer data this small makes degenerate, infeasible and unbounded programs common.
"""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, event, given, settings, strategies as st
from mechdesign_solvers import (
    BilinearProgram,
    Cvxpy,
    Highs,
    LinearProgram,
    Scip,
    Solution,
    Solver,
    Status,
    proves_infeasible,
    proves_unbounded,
)
from mechdesign_solvers._scip_child import solve as scip_in_this_process

from tests.oracles.exact_simplex import ExactSimplex, ExactSolution, RationalProgram

SMALL = st.integers(-3, 3)
SIDES = st.tuples(SMALL, st.integers(0, 3), st.sampled_from(["below", "above", "both", "equal", "free"]))


def sides(drawn: tuple[int, int, str]) -> tuple[float, float]:
    start, width, kind = drawn
    return {
        "below": (start, math.inf),
        "above": (-math.inf, start),
        "both": (start, start + width),
        "equal": (start, start),
        "free": (-math.inf, math.inf),
    }[kind]


@st.composite
def programs(draw: st.DrawFn) -> LinearProgram:
    columns, rows = draw(st.integers(1, 4)), draw(st.integers(0, 4))
    matrix = np.array([[draw(SMALL) for _ in range(columns)] for _ in range(rows)]).reshape(rows, columns)
    row_sides = [sides(draw(SIDES)) for _ in range(rows)]
    column_sides = [sides(draw(SIDES)) for _ in range(columns)]
    return LinearProgram.of(
        [draw(SMALL) for _ in range(columns)],
        matrix,
        [low for low, _ in row_sides],
        [high for _, high in row_sides],
        [low for low, _ in column_sides],
        [high for _, high in column_sides],
    )


def truth(program: LinearProgram) -> ExactSolution:
    exact = ExactSimplex().solve_exactly(program)
    event(exact.status.value)
    return exact


def assert_optimality_conditions(program: LinearProgram, solution: Solution, tolerance: float) -> None:
    """The one sign convention: stationarity, dual signs and complementary slackness."""
    reduced = program.cost - program.matrix.T @ solution.row_duals
    assert solution.reduced_costs == pytest.approx(reduced, abs=tolerance)
    values = np.concatenate([program.matrix @ solution.primal, solution.primal])
    duals = np.concatenate([solution.row_duals, reduced])
    lows = np.concatenate([program.row_lower, program.lower])
    highs = np.concatenate([program.row_upper, program.upper])
    assert np.all(values[duals > tolerance] == pytest.approx(lows[duals > tolerance], abs=tolerance))
    assert np.all(values[duals < -tolerance] == pytest.approx(highs[duals < -tolerance], abs=tolerance))


def assert_agrees(program: LinearProgram, solution: Solution, tolerance: float) -> None:
    exact = truth(program)
    # Where a program is infeasible and its dual too, a solver may rightly report either.
    if solution.status is not exact.status:
        assert {solution.status, exact.status} == {Status.INFEASIBLE, Status.UNBOUNDED}
        assert exact.status is Status.INFEASIBLE
        assert solution.ray is None
    if exact.status is Status.OPTIMAL:
        assert solution.objective == pytest.approx(float(exact.objective), abs=tolerance)
        assert solution.bound == pytest.approx(float(exact.objective), abs=tolerance)
        assert program.violation_at(solution.primal) <= tolerance


@settings(max_examples=300, deadline=None)
@given(programs())
def test_highs_agrees_with_the_exact_simplex(program: LinearProgram) -> None:
    solution = Highs().solve(program)
    assert solution.status is truth(program).status
    assert_agrees(program, solution, 1e-7)


@settings(max_examples=200, deadline=None)
@given(programs())
def test_highs_certificates_hold(program: LinearProgram) -> None:
    solution = Highs().solve(program)
    if solution.status is Status.INFEASIBLE:
        assert proves_infeasible(program, solution.ray)
    if solution.status is Status.UNBOUNDED:
        assert proves_unbounded(program, solution.ray)


@settings(max_examples=200, deadline=None)
@given(programs())
def test_highs_rays_hold_in_exact_arithmetic(program: LinearProgram) -> None:
    # Data are small integers, so the basic rays of HiGHS are fractions of small numbers.
    solution = Highs().solve(program)
    rational = RationalProgram.of(program)
    if solution.ray is not None:
        ray = [Fraction(float(entry)).limit_denominator(10**6) for entry in solution.ray]
        if solution.status is Status.INFEASIBLE:
            assert rational.proves_infeasible(ray)
        else:
            assert rational.proves_unbounded(ray)


@pytest.mark.parametrize("engine", ["clarabel", "highs"])
def test_cvxpy_agrees_with_the_exact_simplex(engine: Any) -> None:
    @settings(max_examples=80, deadline=None, derandomize=True)
    @given(programs())
    def check(program: LinearProgram) -> None:
        solution = Cvxpy(engine).solve(program)
        # An interior point method may stall on programs without an interior, and must then say so.
        if solution.status is not Status.INACCURATE or engine == "highs":
            assert_agrees(program, solution, 1e-5)

    check()


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(programs())
def test_scip_agrees_with_the_exact_simplex(program: LinearProgram) -> None:
    news: dict[str, Any] = {}
    scip_in_this_process(BilinearProgram(program), {"limits/gap": 0.0}, news.update)
    exact = truth(program)
    assert news["outcome"] == exact.status.value
    if exact.status is Status.OPTIMAL:
        assert program.objective_at(news["point"]) == pytest.approx(float(exact.objective), abs=1e-6)
        assert news["bound"] == pytest.approx(float(exact.objective), abs=1e-6)
        assert program.violation_at(news["point"]) <= 1e-6


@pytest.mark.parametrize("solver", [Highs(), Highs("simplex"), Cvxpy("clarabel"), Cvxpy("highs"), ExactSimplex()])
def test_dual_signs_are_the_same_in_every_solver(solver: Solver) -> None:
    # One row at each side, one equality, one slack row; one variable at each bound and one basic.
    program = LinearProgram.of(
        [1, 2, -3, 1],
        [[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, -1], [0, 1, 1, 0]],
        [2, -math.inf, 0.5, -math.inf],
        [math.inf, 3, 0.5, 50],
        lower=0,
        upper=[9, 9, 2.5, 9],
    )
    solution = solver.solve(program)
    reference = Highs("simplex").solve(program)
    assert_optimality_conditions(program, solution, 1e-6)
    assert solution.row_duals == pytest.approx(reference.row_duals, abs=1e-6)
    assert np.any(solution.row_duals > 0.1)
    assert np.any(solution.reduced_costs < -0.1)


@settings(max_examples=100, deadline=None)
@given(programs())
def test_highs_duals_satisfy_the_optimality_conditions(program: LinearProgram) -> None:
    solution = Highs().solve(program)
    if solution.status is Status.OPTIMAL:
        assert_optimality_conditions(program, solution, 1e-7)


@pytest.mark.parametrize(
    ("program", "status"),
    [
        (LinearProgram.of([1, 1], [[1, 2]], 1, lower=0), Status.OPTIMAL),
        (LinearProgram.of([1, 1], [[1, 1]], 3, lower=0, upper=1), Status.INFEASIBLE),
        (LinearProgram.of([-1, 0], [[1, -1]], row_upper=1, lower=0), Status.UNBOUNDED),
    ],
)
def test_scip_in_its_own_process_agrees(program: LinearProgram, status: Status) -> None:
    solution = Scip().solve(program)
    assert solution.status is status
    assert solution.objective == (pytest.approx(0.5, abs=1e-7) if status is Status.OPTIMAL else None)
