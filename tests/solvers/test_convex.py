"""CVXPY: user problems, and a status that never flatters."""

import math
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from mechdesign_solvers import Cvxpy, Inaccurate, Limits, LinearProgram, NotSupported, Status


def covering() -> LinearProgram:
    rng = np.random.default_rng(0)
    matrix = rng.random((200, 300)) * (rng.random((200, 300)) < 0.2)
    return LinearProgram.of(rng.random(300) + 0.1, matrix, 1, lower=0)


@pytest.mark.parametrize("engine", ["clarabel", "highs"])
def test_quadratic_problem_of_a_user_is_solved(engine: Any) -> None:
    x = cp.Variable(3)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - np.array([0, 1, 2]))), [x <= 0.5])
    solution = Cvxpy(engine).solve(problem)
    assert solution.status is Status.OPTIMAL
    assert solution.primal == pytest.approx([0, 0.5, 0.5], abs=1e-4)
    assert solution.objective == pytest.approx(2.5, abs=1e-6)
    assert solution.bound == -math.inf


def test_variables_are_strung_together_in_their_own_order() -> None:
    a, b = cp.Variable((2, 2)), cp.Variable()
    target = np.array([[1, 2], [3, 4]])
    problem = cp.Problem(cp.Minimize(b), [a == target, b >= 9])
    values = {a.id: [1, 2, 3, 4], b.id: [9]}
    expected = np.concatenate([values[v.id] for v in problem.variables()])
    assert Cvxpy().solve(problem).primal == pytest.approx(expected, abs=1e-6)


def test_inaccurate_answer_is_never_called_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    x = cp.Variable()
    problem = cp.Problem(cp.Minimize(x), [x >= 1])
    monkeypatch.setattr(cp.Problem, "status", property(lambda self: "optimal_inaccurate"))
    solution = Cvxpy().solve(problem)
    assert solution.status is Status.INACCURATE
    with pytest.raises(Inaccurate):
        solution.require_optimal()


@pytest.mark.parametrize("objective", ["maximise", "nonconvex", "not a problem"])
def test_what_cvxpy_cannot_take_is_refused(objective: str) -> None:
    x = cp.Variable()
    asked = {
        "maximise": cp.Problem(cp.Maximize(x), [x <= 1]),
        "nonconvex": cp.Problem(cp.Minimize(cp.sqrt(x))),
        "not a problem": 3,
    }[objective]
    with pytest.raises(NotSupported):
        Cvxpy().solve(asked)


def test_engine_that_cannot_solve_the_problem_fails_openly() -> None:
    x = cp.Variable()
    solution = Cvxpy("highs").solve(cp.Problem(cp.Minimize(cp.exp(x)), [x >= 0]))
    assert solution.status is Status.FAILED
    assert "HIGHS" in solution.message


@pytest.mark.parametrize("engine", ["clarabel", "highs"])
@pytest.mark.parametrize(
    ("limits", "status"),
    [(Limits(seconds=1e-3), Status.TIME_LIMIT), (Limits(iterations=3), Status.ITERATION_LIMIT)],
)
def test_limits_stop_it_with_a_status(engine: Any, limits: Limits, status: Status) -> None:
    assert Cvxpy(engine).solve(covering(), limits).status is status


@pytest.mark.parametrize(("engine", "package"), [("clarabel", "clarabel"), ("highs", "highspy")])
def test_version_names_cvxpy_and_its_engine(engine: Any, package: str) -> None:
    version = Cvxpy(engine).solve(LinearProgram.of([1], [[1]], 1, lower=0)).version
    assert version.startswith("cvxpy ")
    assert f"/ {package} " in version
