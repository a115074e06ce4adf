"""The program onto the simplex against its closed form, another solver, and bad input."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import optimize

from mechdesign.errors import InvalidInput
from mechdesign.methods.descriptor import nearest_distribution


def projection(estimate):
    """The Euclidean projection onto the simplex by sorting."""
    ranked = np.sort(estimate)[::-1]
    cuts = (np.cumsum(ranked) - 1) / np.arange(1, ranked.size + 1)
    return np.maximum(estimate - cuts[ranked > cuts][-1], 0)


def shortfall(weights, shares, channel):
    return float(np.max(shares - weights @ channel))


def randomised_response(k, epsilon):
    table = np.ones((k, k)) + (math.exp(epsilon) - 1) * np.eye(k)
    return table / table.sum(axis=1, keepdims=True)


@settings(max_examples=50)
@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20))
def test_the_optimum_for_estimates_is_the_nearest_point_of_the_simplex(values):
    estimate = np.array(values)
    estimate += (1 - estimate.sum()) / estimate.size
    assert nearest_distribution(estimate) == pytest.approx(projection(estimate), abs=1e-6)


@pytest.mark.parametrize("k", [2, 5, 17])
@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_through_randomised_response_it_is_the_projection_of_the_unbiased_estimate(k, epsilon):
    rng = np.random.default_rng(k)
    table = randomised_response(k, epsilon)
    shares = rng.multinomial(200, rng.dirichlet(np.full(k, 0.3)) @ table) / 200
    estimate = np.linalg.solve(table.T, shares)
    assert (estimate < 0).any() or k == 2
    assert nearest_distribution(shares, table) == pytest.approx(projection(estimate), abs=1e-6)


def test_the_value_agrees_with_another_solver_for_any_channel():
    rng = np.random.default_rng(4)
    for _ in range(10):
        k, m = rng.integers(2, 8, 2)
        table, shares = rng.dirichlet(np.ones(m), k), rng.dirichlet(np.ones(m))
        other = optimize.linprog(
            np.append(np.zeros(k), 1),
            A_ub=-np.hstack([table.T, np.ones((m, 1))]),
            b_ub=-shares,
            A_eq=[np.append(np.ones(k), 0)],
            b_eq=[1],
            bounds=[(0, None)] * k + [(None, None)],
            method="highs-ipm",
        )
        found = nearest_distribution(shares, table)
        assert found.min() >= 0
        assert found.sum() == pytest.approx(1, abs=1e-12)
        assert shortfall(found, shares, table) == pytest.approx(other.fun, abs=1e-7)


def test_a_distribution_stays_as_it_is():
    weights = np.random.default_rng(5).dirichlet(np.ones(12))
    assert nearest_distribution(weights) == pytest.approx(weights, abs=1e-7)


@pytest.mark.parametrize("shares", [[], [math.nan], [math.inf, 0], ["a"], None, [True]], ids=str)
def test_shares_that_are_no_numbers_are_refused(shares):
    with pytest.raises(InvalidInput):
        nearest_distribution(shares)


@pytest.mark.parametrize(
    "channel", [np.eye(3), np.ones((2, 2)), [[2, -1], [0, 1]], [1, 0], np.zeros((0, 2)), [[math.nan, 1]] * 2], ids=str
)
def test_channels_that_are_none_are_refused(channel):
    with pytest.raises(InvalidInput, match="channel"):
        nearest_distribution([0.5, 0.5], channel)
