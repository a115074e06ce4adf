"""Subset selection: the size of the sets, the simulation by slots, the reports."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import protocol, subset

RATE = 1e-6


@pytest.mark.parametrize("size", [2, 3, 10, 100, 517])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0, 9.0])
def test_the_subset_has_the_least_variance_of_all_sizes(size, epsilon):
    variances = [protocol("ss", epsilon, size, subset=d).variance(1 / size, 1).item() for d in range(1, size)]
    chosen = protocol("ss", epsilon, size).subset
    assert variances[chosen - 1] == pytest.approx(min(variances), rel=1e-9)


@pytest.mark.parametrize(("size", "d"), [(4, 2), (5, 2), (5, 3), (5, 4), (4, 3)])
def test_simulated_supports_of_sets_of_several_items_follow_the_joint_law(exact, size, d):
    """4 000 collections of 3 users, seed 11, false-positive rate 1e-6."""
    law, rng = protocol("ss", 1.0, size, subset=d), np.random.default_rng(11)
    counts = np.array([1, 0, 2, 0, 0][:size])
    drawn = np.stack([law.simulate(counts, rng) for _ in range(4000)])
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


@pytest.mark.parametrize(("size", "d"), [(4, 2), (5, 2), (5, 3), (5, 4), (4, 3), (3, 1)])
def test_many_collections_at_once_follow_the_joint_law(exact, size, d):
    """10 000 collections of 4 users, a hundred at a time, seed 13, false-positive rate 1e-6."""
    law, rng = protocol("ss", 1.0, size, subset=d), np.random.default_rng(13)
    counts = np.array([1, 0, 2, 1, 0][:size])
    drawn = np.concatenate([law.simulate_many(counts, 100, rng) for _ in range(100)])
    assert drawn.shape == (10_000, size)
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


def test_many_collections_of_many_users_have_the_mean_and_covariance_of_one(exact):
    """200 collections of a million users and 12 items, seed 14, two tests at the rate 1e-6."""
    law, rng = protocol("ss", 1.0, 12), np.random.default_rng(14)
    counts = rng.multinomial(10**6, rng.dirichlet(np.full(12, 0.3)))
    shares = counts / 10**6
    estimates = (law.simulate_many(counts, 200, rng) / 10**6 - law.q) / (law.p - law.q)
    assert exact.quadratic_p_value(estimates, shares, law.covariance(shares, 10**6)) > RATE


def test_collections_are_drawn_in_batches_that_numpy_takes(exact, monkeypatch):
    """The same law with at most 2 users a batch, as with 10^9: 4 000 collections, seed 15, rate 1e-6."""
    monkeypatch.setattr(subset, "_MOST_DRAWN", 2)
    law, rng = protocol("ss", 1.0, 4, subset=2), np.random.default_rng(15)
    counts = np.array([2, 0, 3, 1])
    drawn = law.simulate_many(counts, 4000, rng)
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


@pytest.mark.parametrize("runs", [0, -1, 1.5, True, 10**12])
def test_numbers_of_collections_that_cannot_be_are_refused(runs):
    with pytest.raises(InvalidInput, match="runs"):
        protocol("ss", 1.0, 4).simulate_many([1, 0, 0, 0], runs, np.random.default_rng(1))


@pytest.mark.parametrize(("size", "d"), [(5, 2), (5, 4)])
def test_reported_sets_of_several_items_follow_the_joint_law(exact, size, d):
    """4 000 collections of 3 users, seed 12, false-positive rate 1e-6."""
    law, rng = protocol("ss", 1.0, size, subset=d), np.random.default_rng(12)
    counts = np.array([1, 0, 2, 0, 0])
    reports = law.report(np.tile([0, 2, 2], 4000), rng)
    drawn = np.stack([law.support(reports[3 * i : 3 * i + 3]) for i in range(4000)])
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


def test_every_set_has_its_size_whatever_is_simulated():
    law, rng = protocol("ss", 0.5, 40), np.random.default_rng(1)
    for counts in (np.arange(40), np.eye(40, dtype=int)[39] * 10**6, np.eye(40, dtype=int)[0] * 1000):
        assert law.simulate(counts, rng).sum() == counts.sum() * law.subset


def test_populations_beyond_one_draw_are_split_into_batches(monkeypatch, exact):
    """With batches of 7 users the joint law is the same; 4 000 collections of 3, seed 13, rate 1e-6."""
    monkeypatch.setattr(subset, "_MOST_DRAWN", 2)
    law, rng = protocol("ss", 3.0, 4, subset=2), np.random.default_rng(13)
    counts = np.array([0, 2, 1, 0])
    drawn = np.stack([law.simulate(counts, rng) for _ in range(4000)])
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


def test_several_billion_users_are_simulated():
    law, rng = protocol("ss", 2.0, 10), np.random.default_rng(1)
    counts = np.full(10, 10**9)
    estimates = law.estimate(law.simulate(counts, rng), 10**10)
    assert np.abs(estimates - 0.1).max() < 7 * math.sqrt(law.variance(0.1, 10**10).item())


def test_reports_are_distinct_items_in_order():
    law = protocol("ss", 1.0, 50)
    reports = law.report(np.arange(50), np.random.default_rng(1))
    assert (np.diff(reports, axis=1) > 0).all()


def test_sets_that_hold_an_item_twice_are_refused():
    law = protocol("ss", 1.0, 10, subset=3)
    with pytest.raises(InvalidInput, match=r"reports\[1\] must hold 3 distinct items"):
        law.support([[0, 1, 2], [4, 5, 4]])


@pytest.mark.parametrize("d", [0, 10, -1, 1.5, True])
def test_sets_of_no_or_all_items_are_refused(d):
    with pytest.raises(InvalidInput, match="subset must"):
        protocol("ss", 1.0, 10, subset=d)


def test_report_bits_number_the_sets():
    assert protocol("ss", 1.0, 10, subset=3).report_bits == math.ceil(math.log2(math.comb(10, 3)))
    assert protocol("ss", 1.0, 8, subset=1).report_bits == 3
