"""Several attributes: who reports what, unbiased scaled means and their exact errors."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms import catalogue as c
from mechdesign.studies.frequencies.mean import mean_of_reports
from mechdesign.studies.frequencies.several import collect_means, deal_coordinates, scaled_means
from mechdesign.studies.frequencies.two_phase import TwoPhasePlan, simulate_once
from mechdesign.words.domains import Interval

BOUNDS = [Interval(-1, 1), Interval(0, 10)]
RATE = 1e-6


@pytest.mark.parametrize(("users", "count"), [(1, 1), (7, 3), (1000, 7), (5, 5)])
def test_dealt_groups_differ_by_at_most_one(users, count):
    sizes = np.bincount(deal_coordinates(users, count, np.random.default_rng(0)), minlength=count)
    assert sizes.sum() == users
    assert sizes.max() - sizes.min() <= 1


def test_dealt_coordinates_are_uniform_for_each_user():
    """12 000 deals to 5 users: counts of 3 coordinates, chi-square with false-positive rate 1e-6 for each."""
    rng = np.random.default_rng(1)
    table = np.array([deal_coordinates(6, 3, rng) for _ in range(12_000)])
    for user in range(6):
        counts = np.bincount(table[:, user], minlength=3)
        assert ((counts - 4000) ** 2 / 4000).sum() < stats.chi2.ppf(1 - RATE, 2)


def test_scaled_means_of_tossed_coordinates_are_unbiased_by_enumeration():
    """Duchi's two outputs, two coordinates, two users: all 16 outcomes."""
    data = np.array([[0.5, 2.0], [-1.0, 7.0]])
    mechanisms = [c.duchi(1.0, interval) for interval in BOUNDS]
    mean = np.zeros(2)
    for coordinates in product((0, 1), repeat=2):
        outputs = [mechanisms[j].outputs.points for j in coordinates]
        for reports in product(*outputs):
            chance = 0.25
            for user, (j, report) in enumerate(zip(coordinates, reports, strict=True)):
                chance *= float(mechanisms[j].mass(report, data[user, j]))
            mean += chance * scaled_means(reports, np.array(coordinates), BOUNDS)
    assert mean == pytest.approx(data.mean(axis=0), abs=1e-9)


def ask_with_pm(values, bounds, rng):
    mechanism = c.pm(1.0, bounds)
    return mean_of_reports(mechanism.sample(values, rng), mechanism)


def test_collected_means_are_unbiased():
    """400 collections of 100 users; normal test, false-positive rate 2e-6 for each coordinate."""
    rng = np.random.default_rng(2)
    data = np.column_stack([rng.uniform(-1, 0, 100), rng.uniform(3, 9, 100)])
    found = [[m.value for m in collect_means(data, BOUNDS, rng, ask_with_pm)] for _ in range(400)]
    errors = np.array(found) - data.mean(axis=0)
    assert (np.abs(errors.mean(axis=0)) < stats.norm.ppf(1 - RATE) * errors.std(axis=0, ddof=1) / 20).all()


def test_each_user_is_asked_for_one_coordinate():
    asked = []

    def ask(values, bounds, rng):
        asked.append(values)
        return ask_with_pm(values, bounds, rng)

    data = np.column_stack([np.linspace(-1, 1, 50), np.linspace(0, 10, 50)])
    collect_means(data, BOUNDS, np.random.default_rng(0), ask)
    rows = [np.searchsorted(np.linspace(-1, 1, 50), asked[0]), np.searchsorted(np.linspace(0, 10, 50), asked[1])]
    assert sorted(np.concatenate(rows).tolist()) == list(range(50))


def test_the_two_phase_protocol_serves_each_coordinate():
    def ask(values, bounds, rng):
        return simulate_once(TwoPhasePlan(2.0, values.size, bounds, 4), values, rng).estimate

    rng = np.random.default_rng(3)
    data = np.column_stack([rng.uniform(-1, 1, 4000), rng.uniform(0, 4, 4000)])
    for found, truth in zip(collect_means(data, BOUNDS, rng, ask), data.mean(axis=0), strict=True):
        assert abs(found.value - truth) < 6 * found.standard_error


@pytest.mark.parametrize(
    "data",
    [[[0.0]], [[0.0, 11.0], [0.0, 1.0]], [0.0, 1.0], [[0.0, math.nan]] * 2, [[0.0, 1.0]], [[]], [["a", "b"]] * 2],
    ids=str,
)
def test_tables_that_do_not_fit_are_refused(data):
    with pytest.raises(InvalidInput):
        collect_means(data, BOUNDS, np.random.default_rng(0), ask_with_pm)


@pytest.mark.parametrize(
    "arguments", [([], []), ([1.0], [2]), ([1.0], [-1]), ([1.0], [0.0]), ([1.0, 2.0], [0]), ([math.inf], [0])], ids=str
)
def test_reports_that_do_not_fit_are_refused(arguments):
    with pytest.raises(InvalidInput):
        scaled_means(arguments[0], np.array(arguments[1]), BOUNDS)


@pytest.mark.parametrize("arguments", [(0, 1), (1, 2), (2.0, 1), (5, 0), (True, 1)], ids=str)
def test_numbers_of_users_and_coordinates_that_cannot_be_are_refused(arguments):
    with pytest.raises(InvalidInput):
        deal_coordinates(*arguments, np.random.default_rng(0))
