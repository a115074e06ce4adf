"""The exact loss of every protocol equals the epsilon asked for, from its numbers and from its whole channel."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol

KEYS = [line.key for line in PROTOCOLS]
FINITE = [key for key in KEYS if key not in ("she", "the")]


def built(key, epsilon, size, **options):
    if key in ("l-oue", "l-soue"):
        options.setdefault("limit", min(64.0, 3 * epsilon))
    return protocol(key, epsilon, size, **options)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0])
@pytest.mark.parametrize("size", [2, 3, 100, 12345])
def test_the_loss_equals_the_epsilon_asked_for(key, epsilon, size):
    assert built(key, epsilon, size).privacy_loss() == pytest.approx(epsilon, rel=1e-10)


@pytest.mark.parametrize("key", FINITE)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_largest_ratio_in_a_column_of_the_channel_is_the_exponential_of_epsilon(key, epsilon, size):
    channel = built(key, epsilon, size).channel()
    assert np.allclose(channel.sum(axis=1), 1, rtol=0, atol=1e-12)
    worst = max(max(column) / min(column) for column in channel.T)
    assert math.log(worst) == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("key", [key for key in KEYS if key != "she"])
@pytest.mark.parametrize("size", [2, 4, 6])
def test_p_and_q_are_the_chances_that_the_channel_supports_the_own_item_and_another(exact, key, size):
    law = built(key, 1.3, size)
    chances = exact.channel_of(law) @ exact.columns_support(law)
    expected = np.full((size, size), law.q)
    np.fill_diagonal(expected, law.p)
    assert np.allclose(chances, expected, rtol=0, atol=1e-12)


def test_shares_of_the_histogram_protocols_spend_epsilon_in_two_entries():
    """Density ratio of the noisy histogram where both changed entries are at their extremes: 2 / scale."""
    for key in ("she", "the"):
        law = protocol(key, 1.7, 10)
        assert 2 / law.scale == law.privacy_loss() == pytest.approx(1.7, rel=1e-15)


def test_thresholded_bits_alone_spend_less_than_the_histogram_and_oue_beats_them_at_their_loss():
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        the = protocol("the", epsilon, 100)
        assert the.bits_loss() < epsilon
        assert protocol("oue", the.bits_loss(), 100).variance(0.0, 1) <= the.variance(0.0, 1)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, math.inf, 65, "1", None, True, [1.0]])
def test_epsilons_out_of_range_are_refused(key, epsilon):
    with pytest.raises(InvalidInput, match="eps"):
        protocol(key, epsilon, 10)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("size", [1, 0, -3, 2.0, "4", None, True, 10**8])
def test_domains_without_two_items_are_refused(key, size):
    with pytest.raises(InvalidInput, match="size"):
        protocol(key, 1.0, size)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("epsilon", [1e-6, 64.0])
def test_extreme_epsilons_still_give_a_law(key, epsilon):
    if key == "l-soue" and epsilon == 64:
        with pytest.raises(InvalidInput, match=r"at most 32\.6931"):
            protocol(key, epsilon, 10)
        return
    if key == "l-oue" and epsilon == 64:
        with pytest.raises(InvalidInput, match=r"at most 63\.5945"):
            protocol(key, epsilon, 10)
        return
    law = protocol(key, epsilon, 10)
    assert law.privacy_loss() == pytest.approx(epsilon, rel=1e-8)
    supports = law.simulate(np.full(10, 1000), np.random.default_rng(1))
    assert np.isfinite(law.estimate(supports, 10_000)).all()


@pytest.mark.parametrize("key", ["oue", "olh", "l-oue"])
def test_channels_too_wide_to_write_out_are_refused(key):
    with pytest.raises(InvalidInput, match="distinct reports"):
        protocol(key, 1.0, 64).channel()


@pytest.mark.parametrize("key", ["she", "the"])
def test_protocols_with_real_reports_have_no_channel(key):
    with pytest.raises(InvalidInput, match="finitely many"):
        protocol(key, 1.0, 4).channel()


def test_a_channel_of_too_many_subsets_is_refused():
    with pytest.raises(InvalidInput, match="distinct reports"):
        protocol("ss", 1.0, 60).channel()
    with pytest.raises(InvalidInput, match="distinct reports"):
        protocol("ss", 1.0, 500).channel()
