"""Means end to end by name: every name works, repeats, and is as exact as it says."""

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.mean_methods import NAMES, MeanMethod
from mechdesign.words.domains import Interval

BOUNDS = Interval(-1, 1)
WITH_BINS = ("aaa", "aaa-paper", "sw-em", "sw-ems")
VALUES = np.random.default_rng(0).beta(2, 5, 300) * 2 - 1
RATE = 1e-6


@pytest.mark.parametrize("name", NAMES)
def test_every_name_estimates_and_repeats(name):
    method = MeanMethod(name, 1.5, BOUNDS, 16 if name in WITH_BINS else None)
    runs = [method.collect(VALUES, np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert runs[0].estimate.users == 300
    if name in ("sw-em", "sw-ems"):
        assert runs[0].expected is None
    else:
        assert runs[0].estimate.lower < runs[0].estimate.upper
        assert runs[0].expected > 0


@pytest.mark.parametrize("name", ["aaa", "aaa-paper", "certified-worst", "pm", "staircase"])
def test_unbiased_methods_err_as_much_as_they_expect(name):
    """60 collections of 300 users: squared errors over expected ones, chi-square, false-positive rate 2e-6."""
    method, rng, squares = MeanMethod(name, 1.5, BOUNDS, 4), np.random.default_rng(3), []
    for _ in range(60):
        found = method.collect(VALUES, rng)
        squares.append(((found.estimate.value - VALUES.mean()) / found.expected) ** 2)
    low, high = stats.chi2.ppf([RATE, 1 - RATE], 60) / 60
    assert low < np.mean(squares) < high


def test_the_staircase_is_tuned_for_the_variance():
    errors = {
        name: MeanMethod(name, 3.0, BOUNDS).collect(VALUES, np.random.default_rng(0)).expected
        for name in ("staircase", "laplace")
    }
    assert errors["staircase"] < 0.9 * errors["laplace"]


def test_the_certified_mechanism_has_less_error_at_its_worst_than_any_published_one():
    """All users hold the value with the most variance: the ends for Duchi's, one between them for others."""
    x = np.linspace(-1, 1, 41)

    def worst(name):
        method = MeanMethod(name, 1.0, BOUNDS)
        runs = (method.collect(np.full(2, value), np.random.default_rng(0)).expected for value in x)
        return max(runs)

    assert worst("certified-worst") < 0.97 * min(worst(name) for name in ("duchi", "pm", "hm"))


def test_the_paper_s_estimate_leaves_the_first_group_out():
    assert MeanMethod("aaa-paper", 1.0, BOUNDS).plan(1000).weight == 0.0
    assert MeanMethod("aaa", 1.0, BOUNDS).plan(1000).weight > 0.0


@pytest.mark.parametrize("name", ["sw-em", "sw-ems"])
def test_reconstructions_have_no_interval(name):
    """That of their reports is around another number, and need not hold the estimate."""
    found = MeanMethod(name, 1.0, BOUNDS).collect(VALUES, np.random.default_rng(1)).estimate
    assert (found.standard_error, found.lower, found.upper) == (None, None, None)
    assert found.covers(0.0) is None


@pytest.mark.parametrize("name", ["aaa", "sw-em", "sw-ems"])
def test_one_bin_is_refused(name):
    with pytest.raises(InvalidInput, match="bins"):
        MeanMethod(name, 1.0, BOUNDS, 1).collect(VALUES, np.random.default_rng(0))


@pytest.mark.parametrize("name", ["gauss", "", None, 3, "aaa,pm"])
def test_unknown_names_are_refused(name):
    with pytest.raises(InvalidInput, match="be one of aaa, aaa-paper"):
        MeanMethod(name, 1.0, BOUNDS)


@pytest.mark.parametrize("name", ["aaa", "pm", "sw-em"])
@pytest.mark.parametrize("values", [[], [0.5], [2.0, 0.0], [math.nan, 0.0], [None, 0.0], ["a", "b"]], ids=str)
def test_data_that_cannot_be_are_refused(name, values):
    with pytest.raises(InvalidInput):
        MeanMethod(name, 1.0, BOUNDS).collect(values, np.random.default_rng(0))
