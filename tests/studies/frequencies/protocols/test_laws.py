"""Simulated supports and those of single reports follow one exact law."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol

RATE = 1e-6  # false positives of one test
KEYS = [line.key for line in PROTOCOLS]
COUNTED = [key for key in KEYS if key != "she"]
FEW = np.array([2, 0, 1])
DRAWS = 4000


@pytest.mark.parametrize("key", COUNTED)
def test_simulated_supports_follow_the_exact_joint_law(exact, key):
    """4 000 collections of 3 users, seed 1, false-positive rate 1e-6.

    Supports at epsilon 1.5 in place of 1 are caught with a probability above 0.999 (non-central chi-square, the
    non-centrality is 181 for THE and more for all others).
    """
    law, rng = protocol(key, 1.0, 3), np.random.default_rng(1)
    drawn = np.stack([law.simulate(FEW, rng) for _ in range(DRAWS)])
    assert exact.p_value(drawn, exact.joint_law(law, FEW)) > RATE


@pytest.mark.parametrize("key", COUNTED)
def test_supports_of_single_reports_follow_the_same_law(exact, key):
    """4 000 collections of 3 users, seed 2, false-positive rate 1e-6; hashing uses XXH64, not an ideal hash."""
    law, rng = protocol(key, 1.0, 3), np.random.default_rng(2)
    reports = law.report(np.tile(np.repeat(np.arange(3), FEW), DRAWS), rng)
    drawn = np.stack([law.support(reports[3 * i : 3 * i + 3]) for i in range(DRAWS)])
    assert exact.p_value(drawn, exact.joint_law(law, FEW)) > RATE


def test_the_joint_law_of_another_epsilon_is_told_apart(exact):
    """The same test fails, as it should, for supports at epsilon 1.5 against the law at epsilon 1."""
    for key in ("grr", "oue", "ss", "hr"):
        rng, options = np.random.default_rng(3), {"blocks": 1} if key == "hr" else {}  # the same supports are possible
        drawn = np.stack([protocol(key, 1.5, 3, **options).simulate(FEW, rng) for _ in range(DRAWS)])
        assert exact.p_value(drawn, exact.joint_law(protocol(key, 1.0, 3, **options), FEW)) < RATE


@pytest.mark.parametrize("key", KEYS)
def test_many_users_are_spread_as_the_covariance_says(exact, key):
    """200 collections of a million users and 12 items, seed 4, two tests at the rate 1e-6.

    The chi-square sum has at least 2 200 degrees of freedom: variances off by 25% are caught with probability 0.99.
    """
    law, rng = protocol(key, 1.0, 12), np.random.default_rng(4)
    counts = rng.multinomial(10**6, rng.dirichlet(np.full(12, 0.3)))
    shares = counts / 10**6
    estimates = np.stack([law.estimate(law.simulate(counts, rng), 10**6) for _ in range(200)])
    assert exact.quadratic_p_value(estimates, shares, law.covariance(shares, 10**6)) > RATE


@pytest.mark.parametrize("key", KEYS)
def test_reports_of_many_users_are_spread_as_the_covariance_says(exact, key):
    """60 collections of 1 000 users by single reports, seed 5, rate 1e-6."""
    law, rng = protocol(key, 1.0, 6), np.random.default_rng(5)
    counts = np.array([500, 300, 150, 45, 5, 0])
    values = np.repeat(np.arange(6), counts)
    estimates = np.stack([law.estimate(law.support(law.report(values, rng)), 1000) for _ in range(60)])
    assert exact.quadratic_p_value(estimates, counts / 1000, law.covariance(counts / 1000, 1000)) > RATE


def test_sums_of_laplace_noise_have_the_law_of_single_reports():
    """SHE: 5 000 simulated supports of 3 users against 5 000 summed reports, two-sample KS test at the rate 1e-6."""
    law, rng = protocol("she", 1.0, 2), np.random.default_rng(6)
    simulated = np.stack([law.simulate([3, 0], rng) for _ in range(5000)])
    reported = law.report(np.zeros(15_000, dtype=int), rng).reshape(5000, 3, 2).sum(axis=1)
    for v in range(2):
        assert stats.ks_2samp(simulated[:, v], reported[:, v]).pvalue > RATE
    one = law.report(np.ones(20_000, dtype=int), rng)
    assert stats.kstest(one[:, 0], stats.laplace(0, 2).cdf).pvalue > RATE
    assert stats.kstest(one[:, 1], stats.laplace(1, 2).cdf).pvalue > RATE


@pytest.mark.parametrize("key", KEYS)
def test_a_billion_users_cost_what_a_hundred_thousand_do(key, calls_of, peak_of):
    """In calls and in memory; all estimates are within 7 standard errors."""
    law, rng = protocol(key, 1.0, 100), np.random.default_rng(7)

    def collected(each: int):
        return law.estimate(law.simulate(np.full(100, each), rng), 100 * each)

    worst = np.abs(collected(10**7) - 0.01).max()
    assert worst < 7 * np.sqrt(law.variance(0.01, 10**9).item())
    few, many = (calls_of(lambda each=each: collected(each)) for each in (10**3, 10**7))
    assert many <= 1.1 * few < 10_000
    small, large = (peak_of(lambda each=each: collected(each)) for each in (10**3, 10**7))
    assert large <= 1.1 * small < 100_000


@pytest.mark.parametrize("key", KEYS)
def test_simulations_repeat_under_the_same_seed(key):
    law = protocol(key, 1.0, 7)
    runs = [law.simulate(np.arange(7), np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert np.array_equal(runs[0], runs[1])
    assert not np.array_equal(runs[0], runs[2])
    reports = [law.report(np.arange(7), np.random.default_rng(3)) for _ in range(2)]
    assert np.array_equal(*reports)


@pytest.mark.parametrize("key", KEYS)
def test_nobody_supports_nothing_and_nothing_is_estimated_from_nobody(key):
    law, rng = protocol(key, 1.0, 4), np.random.default_rng(1)
    assert law.simulate(np.zeros(4, dtype=int), rng).tolist() == [0] * 4
    reports = law.report(np.zeros(0, dtype=int), rng)
    assert len(reports) == 0
    assert law.support(reports).tolist() == [0] * 4
    with pytest.raises(InvalidInput, match="n must"):
        law.estimate(np.zeros(4), 0)


BAD_VALUES = [[4], [-1], [[0], [1, 2]], [0.5], ["a"], [[0, 1]], 3, None, [True, False], [np.nan]]


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("values", BAD_VALUES, ids=str)
def test_values_that_are_no_items_are_refused(key, values):
    with pytest.raises(InvalidInput, match="values"):
        protocol(key, 1.0, 4).report(values, np.random.default_rng(1))


def test_the_first_value_outside_is_named_and_counted():
    with pytest.raises(InvalidInput, match=r"values\[2\] must lie between 0 and 3; 2 of 4 values"):
        protocol("oue", 1.0, 4).report([0, 1, 9, -1], np.random.default_rng(1))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("counts", [[1, 2, 3], [1, 2, 3, -1], [1.0, 2, 3, 4], [[1, 2, 3, 4]], None, [10**16, 0, 0, 0]])
def test_counts_that_are_not_are_refused(key, counts):
    with pytest.raises(InvalidInput, match="counts"):
        protocol(key, 1.0, 4).simulate(counts, np.random.default_rng(1))


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("rng", [None, 0, np.random.RandomState(0)], ids=str)
def test_anything_but_a_generator_is_refused(key, rng):
    law = protocol(key, 1.0, 4)
    for use in (lambda: law.report([0], rng), lambda: law.simulate([1, 0, 0, 0], rng)):
        with pytest.raises(InvalidInput, match="Generator"):
            use()


@pytest.mark.parametrize("key", KEYS)
def test_reports_of_another_shape_are_refused(key):
    law = protocol(key, 1.0, 5, **({"subset": 2} if key == "ss" else {}))
    for reports in ("text", np.zeros((3, 7, 2)), np.zeros((2, 9), dtype=complex), np.full(4, -1), [[1], [1, 2]]):
        with pytest.raises(InvalidInput, match="reports"):
            law.support(reports)


@pytest.mark.parametrize("key", KEYS)
def test_supports_that_are_not_are_refused(key):
    law = protocol(key, 1.0, 3)
    for support in ([1, 2], [1, 2, np.nan], ["a", "b", "c"], None):
        with pytest.raises(InvalidInput, match="support"):
            law.estimate(support, 10)
