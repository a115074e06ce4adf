"""The structured interior point: feasible on both sides from its start, and at the value of a general solver."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram
from mechdesign_solvers.interior import solve_laws
from scipy import sparse

MEANS = np.linspace(-1, 1, 5)
WEIGHTS = np.array([0.1, 0.0, 0.4, 0.3, 0.2])
RATIO = math.e


def _places(reach: float, size: int = 21) -> np.ndarray:
    return np.linspace(-reach, reach, size) * (RATIO + 1) / (RATIO - 1)


def _expected(
    places: np.ndarray, spreads: np.ndarray, given: np.ndarray = MEANS, shares: np.ndarray = WEIGHTS
) -> float:
    """The program with a variable for every law and column."""
    count, size = given.size, places.size
    eye, none = sparse.identity(size), sparse.csr_array((count, size))
    floor = sparse.hstack([sparse.vstack([-eye] * count), sparse.identity(count * size)])
    roof = sparse.hstack([sparse.vstack([RATIO * eye] * count), -sparse.identity(count * size)])
    sums = sparse.hstack([none, sparse.kron(sparse.identity(count), np.ones((1, size)))])
    means = sparse.hstack([none, sparse.kron(sparse.identity(count), places[None, :])])
    costs = (shares[:, None] * ((places - given[:, None]) ** 2 + spreads)).ravel()
    lower = np.concatenate([np.zeros(2 * count * size), np.ones(count), given])
    upper = np.concatenate([np.full(2 * count * size, math.inf), np.ones(count), given])
    matrix = sparse.csr_array(sparse.vstack([floor, roof, sums, means]))
    program = LinearProgram.of(np.concatenate([np.zeros(size), costs]), matrix, lower, upper, 0.0)
    value = Highs().solve(program).require_optimal().objective
    assert value is not None
    return value


@pytest.mark.parametrize("reach", [1.01, 1.5, 4.0])
@pytest.mark.parametrize("spread", [0.0, 30.0])
def test_it_has_the_value_of_a_general_solver(reach: float, spread: float) -> None:
    places = _places(reach)
    spreads = np.zeros(places.size)
    spreads[[0, -1]] = spread
    found = solve_laws(MEANS, WEIGHTS, RATIO, places, 1e-9, spreads=spreads)
    expected = _expected(places, spreads)
    assert found.lower <= found.upper
    assert found.lower == pytest.approx(expected, rel=1e-7)
    assert found.upper == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize(("count", "size"), [(2, 8), (5, 21), (6, 20), (6, 21)])
@pytest.mark.parametrize("spread", [0.0, 5.0])
def test_what_is_its_own_mirror_image_is_solved_folded(count: int, size: int, spread: float) -> None:
    half = np.linspace(1.0, 3.0, (count + 1) // 2)
    means, weights = np.linspace(-1, 1, count), np.concatenate([half[: count // 2], half[::-1]]) / 10
    places = _places(1.5, size)
    places = (places - places[::-1]) / 2
    spreads = np.zeros(size)
    spreads[[0, -1]] = spread
    found = solve_laws(means, weights, RATIO, places, 1e-9, spreads=spreads)
    assert found.base.tolist() == found.base[::-1].tolist()
    assert found.values.tolist() == found.values[::-1].tolist()
    assert found.slopes.tolist() == (-found.slopes[::-1]).tolist()
    assert found.values.sum() == pytest.approx(found.lower, rel=1e-12)
    expected = _expected(places, spreads, means, weights)
    assert found.lower == pytest.approx(expected, rel=1e-7)
    assert found.upper == pytest.approx(expected, rel=1e-7)


@pytest.mark.parametrize("gap", [10.0, 0.3, 1e-2, 1e-5])
def test_wherever_it_stops_its_bounds_hold(gap: float) -> None:
    places = _places(2.0)
    found, expected = solve_laws(MEANS, WEIGHTS, RATIO, places, gap), _expected(places, np.zeros(places.size))
    assert found.lower <= expected * (1 + 1e-9)
    assert found.upper >= expected * (1 - 1e-9)
    assert found.upper - found.lower <= gap * found.upper


def test_a_deadline_in_the_past_leaves_the_start() -> None:
    found = solve_laws(MEANS, WEIGHTS, RATIO, _places(2.0), 1e-9, time.perf_counter() - 1)
    assert found.steps == 0
    assert 1 / RATIO < found.base.sum() < 1
    assert found.lower < found.upper


def test_means_that_no_laws_have_are_never_answered() -> None:
    found = solve_laws(MEANS, WEIGHTS, RATIO, _places(0.9), 1e-9)
    assert not found.upper - found.lower <= 1e-9 * found.upper
