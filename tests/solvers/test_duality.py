"""Multipliers and rays prove what they claim and nothing else."""

import math

import numpy as np
import pytest
from mechdesign_solvers import LinearProgram, dual_objective, proves_infeasible, proves_unbounded

CORNER = LinearProgram.of(cost=[1, 2], matrix=[[1, 1], [1, -1]], row_lower=[1, -1], row_upper=[3, 1], lower=0)


def test_no_multipliers_beat_a_feasible_point() -> None:
    rng = np.random.default_rng(7)
    best = CORNER.objective_at([1, 0])
    bounds = [dual_objective(CORNER, rng.normal(size=2)) for _ in range(500)]
    assert max(bounds) <= best
    assert max(bounds) > 0.5


def test_optimal_multipliers_reach_the_optimum() -> None:
    assert dual_objective(CORNER, np.array([1.0, 0.0])) == 1.0


def test_wrong_sign_on_an_infinite_side_proves_nothing() -> None:
    assert dual_objective(CORNER, np.array([5.0, 0.0])) == -math.inf


def test_dust_on_an_infinite_side_is_dropped() -> None:
    assert dual_objective(CORNER, np.array([1.0 + 1e-12, 0.0])) == pytest.approx(1.0)


def test_feasible_program_is_never_proven_infeasible() -> None:
    rng = np.random.default_rng(3)
    assert not any(proves_infeasible(CORNER, rng.normal(size=2)) for _ in range(500))


def test_contradiction_is_proven_by_its_multipliers_at_any_scale() -> None:
    clash = LinearProgram.of([0, 0], [[1, 1], [-1, -1]], [2, -1])
    for scale in (1e-6, 1.0, 1e6):
        assert proves_infeasible(clash, scale * np.array([1.0, 1.0]))
    assert not proves_infeasible(clash, np.array([1.0, -1.0]))
    assert not proves_infeasible(clash, np.zeros(2))


@pytest.mark.parametrize(
    ("direction", "proves"), [([1, 1], True), ([1, 0], False), ([0, 1], False), ([-1, -1], False), ([0, 0], False)]
)
def test_ray_must_keep_rows_and_bounds_and_lower_the_cost(direction: list[float], proves: bool) -> None:
    wedge = LinearProgram.of([-1, 0], [[1, -1]], row_upper=0, lower=0)
    assert proves_unbounded(wedge, np.array(direction, dtype=float)) is proves
