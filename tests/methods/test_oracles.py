"""Closed forms and independent programs that the certified optima must agree with."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from mechdesign_solvers import Highs, LinearProgram
from scipy.sparse import csr_array, hstack, identity, kron, vstack

from mechdesign import Absolute, Circle, Interval, Squared
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms import Window
from mechdesign.methods.registry import solve
from mechdesign.words import priors
from mechdesign.words.criteria import Average
from mechdesign.words.losses import Power
from tests.methods import problems
from tests.methods.problems import numbers
from tests.oracles.exact_simplex import ExactSimplex, RationalProgram

UNIT = Interval(0, 1)
TWO_POINTS = priors.Atoms([0.0, 1.0], [0.5, 0.5])
THRESHOLD = math.log(3 + 2 * math.sqrt(2))


# -- the two-point theorem --------------------------------------------------------------------------------------------


@given(st.floats(0.01, THRESHOLD - 1e-6))
@settings(deadline=None, max_examples=30)
def test_two_points_bound_the_worst_case_that_two_outputs_attain(epsilon: float) -> None:
    """The same design is optimal for the prior on {0, 1} and, up to ln(3 + 2 sqrt 2), for the worst case."""
    design = solve(numbers(epsilon, Squared(), criterion=Average(TWO_POINTS)))
    ratio = math.exp(epsilon)
    expected = ratio / (1 + ratio) ** 2
    mechanism = design.mechanism
    assert isinstance(mechanism, Window)
    assert mechanism.points.tolist() == pytest.approx([1 / (1 + ratio), ratio / (1 + ratio)], abs=1e-9)
    assert design.certificate.lower == pytest.approx(expected, abs=1e-9)
    assert float(exact_worst_error(mechanism, 2)) == pytest.approx(expected, abs=1e-9)


def test_beyond_the_threshold_two_outputs_are_not_enough() -> None:
    mechanism = solve(numbers(THRESHOLD + 0.05, Squared(), criterion=Average(TWO_POINTS))).mechanism
    assert isinstance(mechanism, Window)
    ratio = math.exp(THRESHOLD + 0.05)
    assert float(exact_worst_error(mechanism, 2)) > ratio / (1 + ratio) ** 2 + 1e-4


# -- bins against all staircase mechanisms ----------------------------------------------------------------------------


def _over_all_staircases(ratio: Fraction, exponent: int, points: list[Fraction], weights: list[Fraction]) -> Fraction:
    """The optimum over mechanisms with a column for *every* set of inputs an output may favour, exactly.

    Columns of an extreme mechanism are ``theta`` or ``c theta`` (Kairouz, Oh and Viswanath 2016); the best output of a
    set is free. Nothing here knows that intervals suffice.
    """
    sets = list(itertools.product((False, True), repeat=len(points)))
    columns = [[ratio if favoured else Fraction(1) for favoured in chosen] for chosen in sets]
    costs = tuple(
        _cheapest(exponent, points, [w * q for w, q in zip(weights, column, strict=True)]) for column in columns
    )
    rows = tuple(tuple(column[i] for column in columns) for i in range(len(points)))
    ones, zeros = (Fraction(1),) * len(points), (Fraction(0),) * len(sets)
    answer = ExactSimplex().solve_exactly(RationalProgram(costs, rows, ones, ones, zeros, (None,) * len(sets)))
    assert answer.objective is not None
    return answer.objective


def _cheapest(exponent: int, points: list[Fraction], masses: list[Fraction]) -> Fraction:
    total = sum(masses, Fraction(0))
    mean = sum((m * x for m, x in zip(masses, points, strict=True)), Fraction(0)) / total
    outputs = points if exponent == 1 else [mean]
    return min(
        sum((m * abs(y - x) ** exponent for m, x in zip(masses, points, strict=True)), Fraction(0)) for y in outputs
    )


@given(st.data(), st.fractions(Fraction(11, 10), 40, max_denominator=10), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=40)
def test_bins_are_optimal_among_all_staircase_mechanisms(data: st.DataObject, ratio: Fraction, exponent: int) -> None:
    count = data.draw(st.integers(1, 5))
    places = sorted(data.draw(st.sets(st.integers(0, 20), min_size=count, max_size=count)))
    masses = data.draw(st.lists(st.integers(1, 9), min_size=count, max_size=count))
    points, weights = [Fraction(x, 20) for x in places], [Fraction(m, sum(masses)) for m in masses]
    exact = float(_over_all_staircases(ratio, exponent, points, weights))
    prior = priors.Atoms([float(x) for x in points], [float(w) for w in weights])
    certificate = solve(numbers(math.log(ratio), Power(float(exponent)), criterion=Average(prior))).certificate
    assert certificate.lower == pytest.approx(exact, rel=1e-9, abs=1e-12)
    assert certificate.upper == pytest.approx(exact, rel=1e-9, abs=1e-12)


# -- compact programs -------------------------------------------------------------------------------------------------


def _compact(epsilon: float, losses: np.ndarray, weights: np.ndarray | None) -> float:
    """The optimum over all rows with ``mu <= q <= c mu``: the average, or the worst case if there are no weights."""
    rows, columns = losses.shape
    cells = rows * columns
    spread = kron(np.ones((rows, 1)), identity(columns))
    above = hstack([identity(cells), -spread, csr_array((cells, 1))])
    below = hstack([-identity(cells), math.exp(epsilon) * spread, csr_array((cells, 1))])
    empty = csr_array((rows, columns))
    sums = hstack([kron(identity(rows), np.ones((1, columns))), empty, csr_array((rows, 1))])
    by_row = csr_array((losses.ravel(), (np.repeat(np.arange(rows), columns), np.arange(cells))), shape=(rows, cells))
    worst = hstack([-by_row, empty, csr_array(np.ones((rows, 1)))])
    cost = np.zeros(cells + columns + 1)
    if weights is None:
        cost[-1] = 1.0
    else:
        cost[:cells] = (weights[:, None] * losses).ravel()
    lower = np.concatenate([np.zeros(2 * cells), np.ones(rows), np.full(rows, 0.0 if weights is None else -math.inf)])
    upper = np.concatenate([np.full(2 * cells, math.inf), np.ones(rows), np.full(rows, math.inf)])
    matrix = vstack([above, below, sums, worst], format="csr")
    solution = Highs(method="ipm").solve(LinearProgram.of(cost, matrix, lower, upper, 0.0)).require_optimal()
    assert solution.objective is not None
    return solution.objective


@pytest.mark.parametrize("epsilon", [0.7, 2.0, 4.0])
def test_bins_agree_with_the_compact_program(epsilon: float) -> None:
    """Absolute error: the best outputs are data, so the program on the data is exact."""
    rng = np.random.default_rng(int(10 * epsilon))
    points, weights = np.sort(rng.random(14)), rng.dirichlet(np.ones(14))
    certificate = solve(numbers(epsilon, criterion=Average(priors.Atoms(points, weights)))).certificate
    program = _compact(epsilon, np.abs(points[:, None] - points), weights)
    assert certificate.lower == pytest.approx(program, abs=1e-7)
    assert certificate.upper == pytest.approx(program, abs=1e-7)


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("epsilon", [1.0, 3.0])
def test_the_circle_s_density_lies_between_two_cyclic_programs(epsilon: float, exponent: int) -> None:
    """Below: inputs on the grid, outputs as near as their cell allows. Above: inputs rounded, as far as they can be."""
    size = 36
    step = 2 * math.pi / size
    turns = np.abs(np.arange(size)[:, None] - np.arange(size))
    distance = np.minimum(turns, size - turns) * step
    below = _compact(epsilon, np.maximum(distance - step / 2, 0.0) ** exponent, None)
    above = _compact(epsilon, np.minimum(distance + step / 2, math.pi) ** exponent, None)
    loss = Power(float(exponent)).on_circle(2 * math.pi)
    certificate = solve(problems.piecewise(epsilon, loss, Circle())).certificate
    assert below <= certificate.lower
    assert certificate.upper <= above
    assert above - below < 0.25 * math.pi**exponent


def test_the_value_of_a_shared_coarse_grid_is_never_reported() -> None:
    """n = 41, absolute error, eps = 4: the program's value .0777740 lies below what any mechanism can reach."""
    grid = np.linspace(0, 1, 41)
    trap = _compact(4.0, np.abs(grid[:, None] - grid), None)
    assert trap == pytest.approx(0.0777740, abs=5e-7)
    certificate = solve(numbers(4.0, Absolute()), gap=1e-3).certificate
    assert trap < certificate.lower <= certificate.upper
