"""Only an optimal solution is an answer; everything else is a typed failure that keeps what is known."""

import math

import numpy as np
import pytest
from mechdesign_solvers import (
    Inaccurate,
    Infeasible,
    LimitReached,
    Solution,
    SolverError,
    SolverFailed,
    Status,
    Unbounded,
)


def ended(status: Status, **known: object) -> Solution:
    return Solution(status, "test", "1", seconds=2.0, **known)


def test_optimal_solution_is_returned_unchanged() -> None:
    solution = ended(Status.OPTIMAL)
    assert solution.require_optimal() is solution


@pytest.mark.parametrize(
    ("status", "failure"),
    [
        (Status.INFEASIBLE, Infeasible),
        (Status.UNBOUNDED, Unbounded),
        (Status.TIME_LIMIT, LimitReached),
        (Status.ITERATION_LIMIT, LimitReached),
        (Status.INACCURATE, Inaccurate),
        (Status.FAILED, SolverFailed),
    ],
)
def test_every_other_status_raises_its_own_failure(status: Status, failure: type[SolverError]) -> None:
    with pytest.raises(failure):
        ended(status).require_optimal()


def test_limit_keeps_bounds_and_time() -> None:
    with pytest.raises(LimitReached) as caught:
        ended(Status.TIME_LIMIT, objective=3.0, bound=1.0).require_optimal()
    assert (caught.value.lower, caught.value.upper, caught.value.seconds) == (1.0, 3.0, 2.0)
    assert caught.value.status is Status.TIME_LIMIT


def test_limit_without_a_point_has_no_upper_bound() -> None:
    with pytest.raises(LimitReached) as caught:
        ended(Status.ITERATION_LIMIT, bound=1.0).require_optimal()
    assert caught.value.upper == math.inf


def test_infeasibility_carries_its_certificate() -> None:
    ray = np.array([1.0, -1.0])
    with pytest.raises(Infeasible) as caught:
        ended(Status.INFEASIBLE, ray=ray).require_optimal()
    assert caught.value.ray is ray


@pytest.mark.parametrize(
    ("objective", "bound", "gap"),
    [
        (2.0, 1.0, 0.5),
        (-2.0, -3.0, 0.5),
        (1.0, 1.0 + 1e-12, 0.0),
        (0.0, 0.0, 0.0),
        (0.0, -1.0, math.inf),
        (None, 1.0, math.inf),
        (1.0, -math.inf, math.inf),
    ],
)
def test_gap_is_relative_to_the_objective(objective: float | None, bound: float, gap: float) -> None:
    assert ended(Status.OPTIMAL, objective=objective, bound=bound).gap == gap
