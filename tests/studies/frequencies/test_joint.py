"""Simulated collections: sufficient statistics agree with users one by one, and with the exact laws."""

from __future__ import annotations

import itertools
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.studies.frequencies.joint import (
    JointErrors,
    accuracy,
    simulate_errors,
    simulate_estimates,
    simulate_reports,
    whole_groups,
)

RATE = 1e-6
LAWS = [
    JointResponse.pair(F(3, 4), F(-1, 3)),
    JointResponse.pair(F(3, 5), F(1, 2)),
    JointResponse((0, 0, F(1, 4), F(1, 2), F(1, 4))),
]


def exact_counts(law, values):
    """The law of the number of reported ones: all orders of the users, groups being consecutive, all truths."""
    users = len(values)
    chances = np.zeros(users + 1)
    orders = set(itertools.permutations(values))
    for order in orders:
        sums = np.array([1.0])
        for start in range(0, users, law.group):
            step = np.zeros(law.group + 1)
            members = order[start : start + law.group]
            for truths in itertools.product((0, 1), repeat=law.group):
                same = sum(1 for other in itertools.product((0, 1), repeat=law.group) if sum(other) == sum(truths))
                ones = sum(v if t else 1 - v for v, t in zip(members, truths, strict=True))
                step[ones] += float(law.weights[sum(truths)]) / same
            sums = np.convolve(sums, step)
        chances += sums / len(orders)
    return chances


@pytest.mark.parametrize("law", LAWS)
def test_simulated_counts_follow_the_enumerated_law(law):
    """Chi-square, n = 40000 collections of 8 users, false positives 1e-6."""
    reports = simulate_reports(law, [5, 3], 40000, np.random.default_rng(41))[:, 1]
    expected = 40000 * exact_counts(law, [0] * 5 + [1] * 3)
    seen = np.bincount(reports, minlength=9)
    assert seen[expected < 1e-9].sum() == 0
    kept = expected > 5
    statistic = float(((seen - expected)[kept] ** 2 / expected[kept]).sum())
    assert statistic < stats.chi2.isf(RATE, int(kept.sum()))


@pytest.mark.parametrize("law", LAWS)
def test_users_one_by_one_follow_the_same_law(law):
    """Chi-square, n = 8000 populations of 8 users, false positives 1e-6."""
    rng, values = np.random.default_rng(42), np.repeat([0, 1], [5, 3])
    seen = np.bincount([law.perturb(values, rng).sum() for _ in range(8000)], minlength=9)
    expected = 8000 * exact_counts(law, values.tolist())
    assert seen[expected < 1e-9].sum() == 0
    kept = expected > 5
    statistic = float(((seen - expected)[kept] ** 2 / expected[kept]).sum())
    assert statistic < stats.chi2.isf(RATE, int(kept.sum()))


@pytest.mark.parametrize("law", [LAWS[0], LAWS[2], JointResponse.pair(F(3, 5), F(-1, 4), 5)])
def test_large_populations_have_the_mean_and_variance_of_theorem_4(law):
    """z and variance tests, n = 20000 collections of 10^6 users, false positives 1e-6; 6% off is found."""
    users, count, trials = 10**6, 33000, 20000
    estimates = simulate_estimates(law, users, count, trials, np.random.default_rng(43))
    exact = float(law.variance(users, count))
    assert abs(estimates.mean() - count) < stats.norm.isf(RATE / 2) * np.sqrt(exact / trials)
    assert abs(estimates.var() / exact - 1) < stats.norm.isf(RATE / 2) * np.sqrt(2 / trials)


def test_all_categories_are_estimated_without_bias():
    """z tests, n = 20000 collections, false positives 1e-6 for each of four."""
    law, counts = JointResponse((F(1, 10), F(1, 10), F(4, 5)), 4), [50, 0, 20, 30]
    reports = simulate_reports(law, counts, 20000, np.random.default_rng(44))
    assert (reports.sum(axis=1) == 100).all()
    for x, count in enumerate(counts):
        spread = np.sqrt(float(law.variance(100, count)) / 20000)
        assert abs(law.estimate(reports[:, x], 100).mean() - count) < stats.norm.isf(RATE / 2) * spread


def test_the_same_seed_gives_the_same_collections():
    first, again = (simulate_reports(LAWS[0], [5, 95], 10, np.random.default_rng(1)) for _ in range(2))
    assert np.array_equal(first, again)


def test_accuracy_of_estimates():
    found = accuracy([8.0, 12.0, 13.0], 10.0)
    assert (found.trials, found.bias) == (3, 1.0)
    assert found.mean_absolute_error == pytest.approx(7 / 3)
    assert found.rmse == pytest.approx(np.sqrt(17 / 3))


def test_errors_are_those_of_equations_4_1_and_4_2():
    found = JointErrors([10, 40], [[12.0, 38.0], [5.0, 45.0]])
    assert found.squared.tolist() == [4.0, 25.0]
    assert found.relative.tolist() == pytest.approx([(2 / 10 + 2 / 40) / 2, (5 / 10 + 5 / 40) / 2])
    assert (found.mse, found.are) == (14.5, pytest.approx((0.125 + 0.3125) / 2))


def test_a_percentile_is_the_error_that_so_many_collections_do_not_exceed():
    errors = JointErrors([10, 10], [[10.0 + k, 10.0 - k] for k in range(1, 101)])
    assert errors.percentiles([80, 99]).tolist() == pytest.approx([8.0, 9.9])


@pytest.mark.parametrize("law", LAWS)
def test_simulated_squared_errors_have_the_exact_variance_as_mean(law):
    """z-test at 1e-6 with the sample's own deviation; n = 20000, seed 7; sees 4 per cent at a power of .9."""
    users = 12
    found = simulate_errors(law, [4, 8], 20000, np.random.default_rng(7))
    exact = float(law.variance(users, 4) + law.variance(users, 8)) / 2
    assert abs(found.mse - exact) < 4.9 * found.squared.std() / 20000**0.5


def test_relative_errors_need_somebody_with_each_value():
    with pytest.raises(InvalidInput, match="above 0 in every category"):
        JointErrors([0, 10], [[1.0, 9.0]]).relative  # noqa: B018


def test_the_fewest_users_are_left_out_of_whole_groups():
    """Each of 7 users is the one left out of pairs equally often: binomial at 1e-6, n = 3000, seed 2."""
    drawn = np.array([whole_groups([3, 4], 2, np.random.default_rng([2, k])) for k in range(3000)])
    assert (drawn.sum(axis=1) == 6).all()
    assert abs((drawn[:, 0] == 2).mean() - 3 / 7) < 4.9 * (3 / 7 * 4 / 7 / 3000) ** 0.5
    assert whole_groups([3, 5], 2, np.random.default_rng(1)).tolist() == [3, 5]


@pytest.mark.parametrize(
    ("action", "field"),
    [
        (lambda rng: simulate_reports(LAWS[0], [5, 4], 1, rng), "users"),
        (lambda rng: simulate_reports(LAWS[0], [5, -5], 1, rng), "counts"),
        (lambda rng: simulate_reports(LAWS[0], [5.0, 5.0], 1, rng), "counts"),
        (lambda rng: simulate_reports(LAWS[0], [2, 2, 2], 1, rng), "counts"),
        (lambda rng: simulate_reports(LAWS[0], [5, 5], 0, rng), "trials"),
        (lambda rng: simulate_reports(LAWS[0], [5, 5], 1, 7), "rng"),
        (lambda rng: simulate_estimates(LAWS[0], 10, 11, 1, rng), "count"),
        (lambda rng: accuracy([], 1.0), "estimates"),
    ],
)
def test_bad_input_names_its_field(action, field):
    with pytest.raises(InvalidInput) as caught:
        action(np.random.default_rng(1))
    assert caught.value.field == field
