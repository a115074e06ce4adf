"""Estimates of distributions and means from reports, and their simulated accuracy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import Piecewise, Product, catalogue as c
from mechdesign.studies.frequencies import (
    Accuracy,
    bin_shares,
    circular_mean,
    estimate_distribution,
    estimate_mean,
    simulate_distribution,
    simulate_mean,
)
from mechdesign.words.domains import Circle, Finite, Interval

UNIT = Interval(0, 1)
RATE = 1e-6


@settings(max_examples=200)
@given(st.lists(st.floats(-5, 3), min_size=1, max_size=50), st.integers(1, 60))
def test_every_value_inside_is_in_exactly_one_bin(values, bins):
    shares = bin_shares(values, Interval(-5, 3), bins)
    assert shares.shape == (bins,)
    assert shares.sum() == pytest.approx(1, abs=1e-12)
    for value in values:
        index = min(int((value + 5) / 8 * bins), bins - 1)
        assert shares[index] > 0


@pytest.mark.parametrize("lower", [-0.3, 0.0, -1e-20, 0.1, 1e3])
@pytest.mark.parametrize("bins", [1, 7, 50, 1000])
def test_the_largest_values_are_in_the_last_bin_whatever_the_rounding(lower, bins):
    domain = Interval(lower, lower + 1.3)
    for value in (domain.upper, math.nextafter(domain.upper, -math.inf)):
        assert bin_shares([value], domain, bins)[-1] == 1


def test_values_beyond_an_interval_are_in_no_bin():
    assert bin_shares([0.5, 1.5, -0.1, 1e300, -1e300], UNIT, 2).tolist() == [0.0, 0.2]


def test_angles_wrap_round():
    circle = Circle(360.0)
    assert bin_shares([-10.0, 350.0, 360.0, 720.5], circle, 4).tolist() == [0.5, 0, 0, 0.5]


def test_lower_edges_belong_to_their_bin():
    assert bin_shares([0.0, 0.25, 0.5, 0.75], UNIT, 4).tolist() == [0.25] * 4


@given(st.lists(st.floats(0, 6.28), min_size=1, max_size=20), st.floats(-20, 20))
def test_the_circular_mean_turns_with_the_values(angles, turn):
    circle = Circle()
    values = np.array(angles)
    if np.hypot(np.cos(values).mean(), np.sin(values).mean()) < 1e-3:
        return
    moved = (circular_mean(values + turn, circle) - circular_mean(values, circle) - turn) / circle.period
    assert moved == pytest.approx(round(moved), abs=1e-9)


@pytest.mark.parametrize("period", [1e-12, 1.0, 360.0, 1e12])
def test_the_circular_mean_of_one_value_is_the_value_at_any_scale(period):
    assert circular_mean([0.1 * period], Circle(period)) == pytest.approx(0.1 * period, rel=1e-12, abs=0)


def test_the_circular_mean_lies_on_the_circle():
    for value in (math.nextafter(360.0, 0), 0.0, 360.0, -1e-13):
        assert 0 <= circular_mean([value], Circle(360.0)) < 360


def test_the_circular_mean_goes_the_shorter_way_round():
    assert circular_mean([350.0, 20.0], Circle(360.0)) == pytest.approx(5)


@pytest.mark.parametrize("values", [[0.0, 180.0], [0.0, 120.0, 240.0], [10.0, 100.0, 190.0, 280.0]])
def test_balanced_values_have_no_direction(values):
    with pytest.raises(InvalidInput, match="direction"):
        circular_mean(values, Circle(360.0))


def test_the_mean_of_reports_is_theirs():
    assert estimate_mean([1.0, 2.0, 6.0], UNIT) == 3.0
    assert estimate_mean([350.0, 20.0], Circle(360.0)) == pytest.approx(5)


def test_the_distribution_of_reports_has_fifty_bins_unless_told():
    assert estimate_distribution([0.1, 0.2], UNIT).shape == (50,)
    assert estimate_distribution([0.1, 0.2], UNIT, 3).tolist() == [1.0, 0, 0]


BAD_VALUES = [[], ["a"], "abc", None, [True], [math.nan], [math.inf], [1j], [[1], [1, 2]]]


@pytest.mark.parametrize("values", BAD_VALUES, ids=str)
def test_values_that_are_not_numbers_are_refused(values):
    for estimate in (
        lambda: bin_shares(values, UNIT, 3),
        lambda: estimate_mean(values, UNIT),
        lambda: circular_mean(values, Circle()),
        lambda: estimate_distribution(values, Circle()),
        lambda: simulate_mean(c.ogpm(1.0), values, 3, np.random.default_rng(0)),
        lambda: simulate_distribution(c.ogpm(1.0), values, 3, np.random.default_rng(0)),
    ):
        with pytest.raises(InvalidInput):
            estimate()


@pytest.mark.parametrize("count", [0, -1, 2.0, True, "3", None])
def test_counts_that_are_not_are_refused(count):
    rng = np.random.default_rng(0)
    for estimate in (
        lambda: bin_shares([0.1], UNIT, count),
        lambda: simulate_mean(c.ogpm(1.0), [0.1], count, rng),
        lambda: simulate_distribution(c.ogpm(1.0), [0.1], count, rng),
        lambda: simulate_distribution(c.ogpm(1.0), [0.1], 3, rng, bins=count),
    ):
        with pytest.raises(InvalidInput, match="whole number"):
            estimate()


@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)])
def test_anything_but_a_generator_is_refused(rng):
    for simulate in (simulate_mean, simulate_distribution):
        with pytest.raises(InvalidInput, match="Generator"):
            simulate(c.ogpm(1.0), [0.1], 3, rng)


def test_data_outside_the_domain_are_named():
    with pytest.raises(InvalidInput, match=r"data\[1\]"):
        simulate_mean(c.ogpm(1.0), [0.5, 1.5], 3, np.random.default_rng(0))


@pytest.mark.parametrize(
    "law", [c.randomised_response(1.0, Finite((0, 1))), Product((c.ogpm(1.0),))], ids=["points", "product"]
)
def test_mechanisms_without_a_line_or_a_circle_are_refused(law):
    for simulate in (simulate_mean, simulate_distribution):
        with pytest.raises(InvalidInput, match="interval or a circle"):
            simulate(law, [0, 1], 3, np.random.default_rng(0))


def test_domains_of_another_kind_are_refused():
    for estimate in (lambda: bin_shares([0], Finite((0, 1)), 2), lambda: estimate_mean([0], Finite((0, 1)))):
        with pytest.raises(InvalidInput, match="of kind"):
            estimate()


def test_simulations_repeat_under_the_same_generator_state():
    data = np.linspace(0, 1, 50)
    for simulate in (simulate_mean, simulate_distribution):
        runs = [simulate(c.ogpm(1.0), data, 5, np.random.default_rng(seed)) for seed in (3, 3, 4)]
        assert runs[0] == runs[1] != runs[2]


def test_errors_of_an_exact_mechanism_are_zero():
    """At eps = 64 the window is 1e-14 wide: reports are the data."""
    data = np.linspace(0.01, 0.99, 50)
    assert simulate_mean(c.ogpm(64.0), data, 3, np.random.default_rng(0)).rmse < 1e-12
    off_edges = (np.arange(100) + 0.5) / 100
    assert simulate_distribution(c.ogpm(64.0), off_edges, 3, np.random.default_rng(0)).rmse < 1e-12


def test_accuracies_are_ordered():
    accuracy = simulate_mean(c.pm(1.0, UNIT), np.linspace(0, 1, 30), 40, np.random.default_rng(1))
    assert isinstance(accuracy, Accuracy)
    assert accuracy.trials == 40
    assert accuracy.bias <= accuracy.mean_absolute_error <= accuracy.rmse


def test_the_mean_squared_error_of_an_unbiased_mean_is_the_average_variance_over_n():
    """2 000 trials of 200 reports, false-positive rate 2e-6; a variance off by 20% is caught with probability 0.999."""
    law, data, trials = c.pm(1.0, UNIT), np.linspace(0, 1, 200), 2000
    accuracy = simulate_mean(law, data, trials, np.random.default_rng(5))
    expected = float(law.variance(data).mean()) / data.size
    # the means of 200 bounded reports are normal to this accuracy, so squared errors add up to a chi-square
    low, high = stats.chi2.ppf([RATE, 1 - RATE], trials) / trials
    assert low < accuracy.rmse**2 / expected < high
    assert accuracy.bias < stats.norm.ppf(1 - RATE / 2) * math.sqrt(expected / trials)


def test_the_bias_of_a_biased_mean_is_found():
    """1 000 trials of 100 reports of the input 0; the estimated bias is within 6 standard errors of the exact one."""
    law, trials = c.ogpm(1.0), 1000
    accuracy = simulate_mean(law, np.zeros(100), trials, np.random.default_rng(6))
    slack = 6 * math.sqrt(float(law.variance(0.0)) / 100 / trials)
    assert accuracy.bias == pytest.approx(float(law.mean(0.0)), abs=slack)


def test_the_error_of_a_mean_is_not_the_bias_alone():
    """The distance of the average of many trials from the truth says little about one collection."""
    accuracy = simulate_mean(c.ogpm_unbiased(1.0), np.full(500, 0.5), 200, np.random.default_rng(7))
    assert accuracy.mean_absolute_error > 3 * accuracy.bias


def test_circular_errors_go_the_shorter_way_round():
    data = np.array([359.0] * 50 + [1.0] * 50)
    accuracy = simulate_mean(c.ogpm_circle(8.0, Circle(360.0)), data, 20, np.random.default_rng(2))
    assert accuracy.rmse < 20


def test_the_distribution_error_of_uniform_reports_is_that_of_the_multinomial():
    """Reports that ignore the data: the bias is the distance from the uniform law; 400 trials, 6 standard errors."""
    law = Piecewise(1.0, UNIT, UNIT, 1.0, 1.0)
    accuracy = simulate_distribution(law, np.full(4000, 0.05), 400, np.random.default_rng(3), bins=10)
    spread = math.sqrt(0.1 * 0.9 / 4000 / 400)
    assert accuracy.bias == pytest.approx(0.9 + 9 * 0.1, abs=10 * 6 * spread)
    assert accuracy.bias <= accuracy.mean_absolute_error <= accuracy.rmse
