"""The interior-point method on cones, against linear programs with every row written down."""

from __future__ import annotations

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram
from mechdesign_solvers.cones import ConeProgram, solve_cones


def program(bounds: np.ndarray, losses: np.ndarray, weights: np.ndarray | None) -> ConeProgram:
    """All nodes in every block, all pairs whose bound is finite."""
    size, columns = losses.shape
    first, second = np.nonzero(np.isfinite(bounds) & ~np.eye(size, dtype=bool))
    every = np.tile(np.arange(size), (columns, 1))
    pairs = np.repeat(np.arange(columns), first.size), np.tile(first, columns), np.tile(second, columns)
    bound = np.tile(bounds[first, second], columns)
    return ConeProgram(size, size, every, every, np.ones((columns, size)), losses.T.copy(), *pairs, bound, weights)


def by_rows(bounds: np.ndarray, losses: np.ndarray, weights: np.ndarray | None, cap: float = math.inf) -> float:
    size, columns = losses.shape
    count = size * columns + 1
    rows, low, high = [], [], []
    for x in range(size):
        law, error = np.zeros(count), np.zeros(count)
        law[x * columns : (x + 1) * columns] = 1
        error[x * columns : (x + 1) * columns], error[-1] = -losses[x], 1
        rows, low, high = [*rows, law, error], [*low, 1, -math.inf if weights is not None else 0], [*high, 1, math.inf]
        for other in range(size):
            for y in range(columns) if other != x and math.isfinite(bounds[x, other]) else ():
                pair = np.zeros(count)
                pair[x * columns + y], pair[other * columns + y] = -1, math.exp(bounds[x, other])
                rows, low, high = [*rows, pair], [*low, 0], [*high, math.inf]
    cost = np.zeros(count)
    cost[-1] = weights is None
    if weights is not None:
        cost[:-1] = (weights[:, None] * losses).ravel()
    upper = np.full(count, math.inf)
    if math.isfinite(cap):  # the last is the cap, which errors stay below
        low = [0 if bound == -math.inf else bound for bound in low]
        upper[-1] = cap
    solved = Highs().solve(LinearProgram.of(cost, np.array(rows), row_lower=low, row_upper=high, lower=0, upper=upper))
    return float(solved.require_optimal().objective)


@pytest.mark.parametrize("seed", range(6))
def test_random_programs_have_the_optimum_of_their_rows(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bounds, losses = rng.uniform(0.3, 2, (5, 5)), rng.uniform(0, 3, (5, 6))
    bounds[rng.random((5, 5)) < 0.2] = math.inf
    weights = None if seed % 2 else rng.dirichlet(np.ones(5))
    found = solve_cones(program(bounds, losses, weights), 1e-7)
    assert found.upper == pytest.approx(by_rows(bounds, losses, weights), rel=2e-6)
    assert found.lower <= found.upper * (1 + 1e-6)


@pytest.mark.parametrize("seed", range(6))
def test_capped_rows_have_the_optimum_of_their_rows(seed: int) -> None:
    """Between the least worst case and what the average alone would do there."""
    rng = np.random.default_rng(seed)
    bounds, losses, weights = rng.uniform(0.3, 2, (4, 4)), rng.uniform(0, 3, (4, 5)), rng.dirichlet(np.ones(4))
    least, alone = by_rows(bounds, losses, None), solve_cones(program(bounds, losses, weights), 1e-8)
    most = float((alone.values.T * losses).sum(axis=1).max())
    cap = least + rng.uniform(0.1, 0.9) * (most - least)
    found = solve_cones(replace(program(bounds, losses, weights), cap=cap), 1e-7)
    assert found.upper == pytest.approx(by_rows(bounds, losses, weights, cap), rel=2e-6)
    assert found.lower <= found.upper * (1 + 1e-6)
    assert (found.values.T * losses).sum(axis=1).max() <= cap * (1 + 1e-6)
    assert found.weights.min() >= 0


@pytest.mark.parametrize("weights", [[0.0, 0.3, 0.7], [1e-300, 0.5, 0.5], [0.0, 0.0, 1.0]])
def test_capped_rows_may_have_no_weight(weights: list[float]) -> None:
    bounds, losses, prior = np.full((3, 3), 0.5), np.abs(np.subtract.outer([0.0, 1, 3], [0.0, 1, 3])), np.array(weights)
    cap = 1.1 * by_rows(bounds, losses, None)
    found = solve_cones(replace(program(bounds, losses, prior), cap=cap), 1e-7)
    assert not found.stopped
    assert found.upper == pytest.approx(by_rows(bounds, losses, prior, cap), rel=2e-6)


@pytest.mark.parametrize("weights", [np.array([0.2, 0.3, 0.5]), None])
@pytest.mark.parametrize("epsilon", [0.02, 1e-3, 1e-5])
def test_tiny_epsilons_are_not_done_before_bounds_are_near(epsilon: float, weights: np.ndarray | None) -> None:
    """What all pairs leave is tiny then, and products with it say nothing of the gap."""
    bounds, losses = np.full((3, 3), epsilon), np.abs(np.subtract.outer([0.0, 1, 3], [0.0, 1, 3])) + 0.1
    found = solve_cones(program(bounds, losses, weights), 0.01)
    assert not found.stopped
    assert (1 - 0.011) * found.upper <= found.lower <= found.upper


def test_tiny_epsilons_on_some_pairs_only_are_no_standstill() -> None:
    bounds = np.array([[0.0, 0.005, math.inf], [0.003, 0.0, math.inf], [math.inf, math.inf, 0.0]])
    losses = np.array([[0.41, 0.2, 0.3], [0.43, 0.82, 0.27], [0.36, 0.33, 0.61]])
    found = solve_cones(program(bounds, losses, None), 1e-6)
    assert not found.stopped
    assert found.upper == pytest.approx(by_rows(bounds, losses, None), rel=2e-6)


def test_flows_are_multipliers_that_leave_the_bound() -> None:
    """``sum_x min_y (w loss - what flows take)`` is the optimum: no other part of the answer is needed."""
    bounds, losses, weights = np.full((3, 3), 0.8), 1 - np.eye(3), np.full(3, 1 / 3)
    asked = program(bounds, losses, weights)
    found = solve_cones(asked, 1e-8)
    left = (weights[:, None] * losses).copy()
    np.add.at(left, (asked.first, asked.block), found.flow)
    np.add.at(left, (asked.second, asked.block), -found.flow * np.exp(asked.bound))
    assert left.min(axis=1).sum() == pytest.approx(2 / (math.exp(0.8) + 2), rel=1e-6)


def test_a_deadline_stops_it_with_what_is_there() -> None:
    asked = program(np.full((3, 3), 0.8), 1 - np.eye(3), None)
    found = solve_cones(asked, 1e-8, deadline=time.perf_counter())
    assert found.stopped
    assert found.steps == 0
    assert (found.values > 0).all()


@pytest.mark.filterwarnings("error")
def test_a_step_from_where_doubles_end_is_refused_without_a_warning() -> None:
    """Values of 0 leave no room: a terminal is told of no division."""
    from mechdesign_solvers.cones import _State

    bounds = np.array([[0.0, 1.0], [1.0, 0.0]])
    state = _State(program(bounds, np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([0.5, 0.5])))
    state.values, state.room = np.zeros_like(state.values), np.zeros_like(state.room)
    assert not state.advance()
