"""Randomised rounding to edges: exact means and variances, and what divides what."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.quantise import (
    bins_of_width,
    edges_of,
    quantised,
    round_at_random,
    rounding_variance,
)
from mechdesign.words.domains import Circle, Interval

SYMMETRIC = Interval(-1, 1)


def weights_by_hand(x, edges):
    """Eq. 6 as printed: ``w_i(x) = max(0, 1 - |x - x_i| / sigma)``."""
    return np.maximum(0, 1 - np.abs(x - edges) / (edges[1] - edges[0]))


@given(st.lists(st.floats(-1, 1), min_size=1, max_size=20), st.integers(1, 40))
def test_the_quantised_law_is_equation_7(values, bins):
    edges = edges_of(SYMMETRIC, bins)
    expected = np.mean([weights_by_hand(x, edges) for x in values], axis=0)
    assert quantised(values, SYMMETRIC, bins).weights == pytest.approx(expected, abs=1e-9)


@given(st.lists(st.floats(-3, 7), min_size=1, max_size=20), st.integers(1, 40))
def test_quantising_keeps_the_mean(values, bins):
    law = quantised(values, Interval(-3, 7), bins)
    assert float(law.weights @ law.points) == pytest.approx(float(np.mean(values)), abs=1e-9)


@given(st.floats(-1, 1), st.integers(1, 40))
def test_the_rounding_variance_is_that_of_the_two_edges(x, bins):
    edges = edges_of(SYMMETRIC, bins)
    weights = weights_by_hand(x, edges)
    assert float(rounding_variance(x, SYMMETRIC, bins)[0]) == pytest.approx(weights @ (edges - x) ** 2, abs=1e-9)


@pytest.mark.parametrize("bins", [1, 3, 7, 10, 16, 100, 512])
def test_edges_are_rounded_to_themselves(bins):
    edges = edges_of(Interval(-0.3, 1.7), bins)
    drawn = round_at_random(np.repeat(edges, 50), Interval(-0.3, 1.7), bins, np.random.default_rng(0))
    assert drawn.tolist() == np.repeat(np.arange(bins + 1), 50).tolist()


def test_values_go_right_with_the_chance_of_their_place():
    """200 000 draws of x = 0.3 between 0.25 and 0.5; false-positive rate 1e-6, power 0.999 against 0.208."""
    draws = round_at_random(np.full(200_000, 0.3), SYMMETRIC, 8, np.random.default_rng(1))
    assert set(draws.tolist()) == {5, 6}
    low, high = stats.binom.ppf([5e-7, 1 - 5e-7], draws.size, 0.2)
    assert low <= int((draws == 6).sum()) <= high


@pytest.mark.parametrize(("width", "bins"), [(0.125, 16), (0.25, 8), (1.0, 2), (2.0, 1), (0.1, 20), (2 / 3, 3)])
def test_widths_that_divide_the_length_are_numbers_of_bins(width, bins):
    assert bins_of_width(SYMMETRIC, width) == bins


@pytest.mark.parametrize("width", [0.3, 1.5, 0.7, 0, -1, 3, math.nan, math.inf, "x", None, True, 1e-3])
def test_widths_that_do_not_divide_are_refused(width):
    with pytest.raises(InvalidInput):
        bins_of_width(SYMMETRIC, width)


def test_a_width_that_does_not_divide_is_told_the_nearest_that_do():
    with pytest.raises(InvalidInput, match=r"0\.285714 and 0\.333333 do"):
        bins_of_width(SYMMETRIC, 0.3)


@pytest.mark.parametrize("values", [[], [2.0], [math.nan], [None, 1.0], ["a"], [True], [math.inf]], ids=str)
def test_bad_data_are_refused(values):
    rng = np.random.default_rng(0)
    for use in (
        lambda: round_at_random(values, SYMMETRIC, 4, rng),
        lambda: rounding_variance(values, SYMMETRIC, 4),
        lambda: quantised(values, SYMMETRIC, 4),
    ):
        with pytest.raises(InvalidInput):
            use()


@pytest.mark.parametrize("bins", [0, -1, 2.0, True, None, 513])
def test_numbers_of_bins_that_are_none_are_refused(bins):
    for use in (
        lambda: edges_of(SYMMETRIC, bins),
        lambda: quantised([0.0], SYMMETRIC, bins),
        lambda: rounding_variance([0.0], SYMMETRIC, bins),
    ):
        with pytest.raises(InvalidInput, match="bins"):
            use()


def test_only_intervals_have_edges():
    with pytest.raises(InvalidInput, match="Interval"):
        edges_of(Circle(), 4)


def test_randomness_is_a_generator():
    with pytest.raises(InvalidInput, match="Generator"):
        round_at_random([0.0], SYMMETRIC, 4, 7)
