"""Variances and covariances against enumeration of the channel, and the numbers of the specification."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol
from mechdesign.studies.frequencies.protocols.pure import total_variance

KEYS = [line.key for line in PROTOCOLS]
COUNTED = [key for key in KEYS if key != "she"]


def enumerated_covariance(exact, law, counts):
    """Of all estimates: one report's covariances given its item, summed over users."""
    channel, sets = exact.channel_of(law), exact.columns_support(law).astype(float)
    total = np.zeros((law.size, law.size))
    for v, users in enumerate(counts):
        mean = channel[v] @ sets
        total += users * ((sets * channel[v][:, None]).T @ sets - np.outer(mean, mean))
    gap = (channel @ sets)[0, 0] - (channel @ sets)[1, 0]
    return total / (sum(counts) * gap) ** 2


@pytest.mark.parametrize("key", COUNTED)
@pytest.mark.parametrize("f", [0, 0.01, 0.5, 1])
@pytest.mark.parametrize("size", [2, 3, 6])
def test_the_variance_at_every_frequency_is_that_of_the_enumerated_channel(exact, key, f, size):
    law, own = protocol(key, 1.0, size), round(100 * f)
    counts = [own, 100 - own] + [0] * (size - 2)
    assert law.variance(f, 100).item() == pytest.approx(enumerated_covariance(exact, law, counts)[0, 0], rel=1e-9)


@pytest.mark.parametrize("key", COUNTED)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_covariances_are_those_of_the_enumerated_channel(exact, key, epsilon):
    law, counts = protocol(key, epsilon, 6), [40, 30, 20, 9, 1, 0]
    expected = enumerated_covariance(exact, law, counts)
    assert np.allclose(law.covariance(np.array(counts) / 100, 100), expected, rtol=1e-9, atol=1e-12 * expected.max())


@pytest.mark.parametrize("key", KEYS)
def test_variances_broadcast_and_fall_as_one_over_n(key):
    law = protocol(key, 1.0, 10)
    table = law.variance([[0.0, 0.01], [0.5, 1.0]], 7)
    assert table.shape == (2, 2)
    assert np.allclose(table, law.variance([[0.0, 0.01], [0.5, 1.0]], 70) * 10, rtol=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_the_total_variance_is_the_same_for_all_data(key):
    law, rng = protocol(key, 1.0, 9), np.random.default_rng(1)
    totals = [np.trace(law.covariance(rng.dirichlet(np.full(9, a)), 50)) for a in (0.05, 1.0, 100.0)]
    assert np.allclose(totals, 9 * law.variance(1 / 9, 50), rtol=1e-9)


def test_summed_histograms_have_the_variance_of_two_laplace_scales():
    assert protocol("she", 2.0, 5).variance([0, 0.01, 0.5, 1], 10).tolist() == pytest.approx([0.2] * 4)


def test_the_published_variances_of_rare_items():
    """Wang et al. 2017, table 1: n Var at f = 0."""
    for e in (0.5, 1.0, 3.0):
        c = math.exp(e)
        assert protocol("grr", e, 50).variance(0, 1).item() == pytest.approx((c + 48) / (c - 1) ** 2)
        assert protocol("sue", e, 50).variance(0, 1).item() == pytest.approx(
            math.exp(e / 2) / (math.exp(e / 2) - 1) ** 2
        )
        assert protocol("oue", e, 50).variance(0, 1).item() == pytest.approx(4 * c / (c - 1) ** 2)
        assert protocol("blh", e, 50).variance(0, 1).item() == pytest.approx((c + 1) ** 2 / (c - 1) ** 2)
        assert protocol("she", e, 50).variance(0, 1).item() == pytest.approx(8 / e**2)


def test_oue_on_zipf_data_has_the_error_of_the_specification():
    """k = 128, n = 100 000, eps = 1: mean absolute error about .0050 raw; 20 runs, standard error below 2e-5."""
    shares = 1 / np.arange(1, 129)
    counts = np.random.default_rng(1).multinomial(100_000, shares / shares.sum())
    law, rng = protocol("oue", 1.0, 128), np.random.default_rng(2)
    runs = [law.estimate(law.simulate(counts, rng), 100_000) - counts / 100_000 for _ in range(20)]
    error = np.abs(runs).mean()
    assert 0.00475 < error < 0.0050
    predicted = math.sqrt(2 / math.pi) * np.sqrt(law.variance(counts / 100_000, 100_000)).mean()
    assert error == pytest.approx(predicted, rel=0.03)


@pytest.mark.parametrize("f", [-0.1, 1.1, np.nan, "a", None])
def test_frequencies_outside_are_refused(f):
    for key in KEYS:
        with pytest.raises(InvalidInput, match="f must"):
            protocol(key, 1.0, 4).variance(f, 10)


@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.5, 0.6, 0.0], [1.5, -0.5, 0.0]])
def test_shares_that_do_not_sum_to_one_have_no_covariance(shares):
    for key in KEYS:
        with pytest.raises(InvalidInput, match="frequencies"):
            protocol(key, 1.0, 3).covariance(shares, 10)


def test_total_variance_of_a_perfect_coin_is_zero():
    assert total_variance(4, 1.0, 0.0, 1.0) == 0
