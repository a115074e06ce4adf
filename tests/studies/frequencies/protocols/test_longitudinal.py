"""Longitudinal protocols: first reports, limits, memory over rounds."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, protocol
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal

RATE = 1e-6
KEYS = [line.key for line in PROTOCOLS if line.longitudinal]


def test_the_printed_second_step_of_l_grr_is_far_from_its_epsilon():
    """Correction 7: at k = 100, limit 2, epsilon 1 the printed p2 gives 0.166, and 90 times the variance."""
    k, a, b = 100, math.exp(2), math.exp(1)
    p1 = a / (a + k - 1)
    q1 = (1 - p1) / (k - 1)
    p2 = (a * b - 1) / (-k * b + (k - 1) * a + b + a * b - 1)
    q2 = (1 - p2) / (k - 1)
    p, q = p1 * p2 + (k - 1) * q1 * q2, p1 * q2 + q1 * p2 + (k - 2) * q1 * q2
    assert math.log(p / q) == pytest.approx(0.166, abs=5e-4)
    law = protocol("l-grr", 1.0, k, limit=2.0)
    assert law.privacy_loss() == pytest.approx(1, rel=1e-13)
    assert q * (1 - q) / (p - q) ** 2 / law.variance(0, 1) == pytest.approx(89.6, abs=0.1)


@pytest.mark.parametrize("key", KEYS)
@pytest.mark.parametrize("ratio", [1.55, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("size", [2, 100])
def test_first_reports_have_the_epsilon_asked_for_at_every_limit(key, ratio, epsilon, size):
    if key in ("l-oue", "l-soue") and ratio < 2:  # the optimised second step cannot lose that little
        with pytest.raises(InvalidInput, match="be at most"):
            protocol(key, epsilon, size, limit=1.05 * epsilon)
        return
    law = protocol(key, epsilon, size, limit=ratio * epsilon)
    assert law.privacy_loss() == pytest.approx(epsilon, rel=1e-11)
    assert law.loss_after(1) == pytest.approx(epsilon, rel=1e-11)


@pytest.mark.parametrize(("key", "once"), [("l-grr", "grr"), ("l-sue", "sue"), ("l-osue", "oue"), ("l-olh", "olh")])
@pytest.mark.parametrize("limit", [1.2, 2.0, 10.0])
def test_one_round_is_the_one_time_protocol_whatever_the_limit(key, once, limit):
    first, second = protocol(key, 1.0, 50, limit=limit), protocol(once, 1.0, 50)
    assert (first.p, first.q) == pytest.approx((second.p, second.q), rel=1e-12)


@pytest.mark.parametrize("key", KEYS)
def test_losses_rise_with_the_rounds_up_to_the_limit(key):
    law = protocol(key, 1.0, 20, limit=2.5)
    losses = [law.loss_after(rounds) for rounds in (1, 2, 3, 5, 10, 100, 10_000)]
    assert all(a <= b + 1e-12 for a, b in zip(losses, losses[1:], strict=False))
    assert losses[1] > losses[0]
    assert losses[-1] == pytest.approx(2.5, rel=1e-9)
    assert max(losses) <= 2.5 * (1 + 1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 3])
@pytest.mark.parametrize("size", [2, 3, 4])
def test_the_loss_of_several_responses_is_that_of_all_sequences(rounds, size):
    law = protocol("l-grr", 0.8, size, limit=2.0)
    first = np.full((size, size), law.first.q) + np.eye(size) * (law.first.p - law.first.q)
    second = np.full((size, size), law.second.q) + np.eye(size) * (law.second.p - law.second.q)
    worst = 0.0
    for said in itertools.product(range(size), repeat=rounds):
        chances = first @ np.prod([second[:, y] for y in said], axis=0)
        worst = max(worst, math.log(chances.max() / chances.min()))
    assert law.loss_after(rounds) == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize("key", ["l-sue", "l-oue", "l-soue", "l-osue"])
def test_the_loss_of_several_bits_is_that_of_all_counts_of_ones(key, rounds):
    law = protocol(key, 0.8, 5, limit=2.0)
    ones = np.arange(rounds + 1)
    by_memo = [stats.binom.pmf(ones, rounds, chance) for chance in (law.second.p, law.second.q)]
    is_set = law.first.p * by_memo[0] + (1 - law.first.p) * by_memo[1]
    clear = law.first.q * by_memo[0] + (1 - law.first.q) * by_memo[1]
    worst = math.log((is_set / clear).max()) + math.log((clear / is_set).max())
    assert law.loss_after(rounds) == pytest.approx(worst, rel=1e-10)


@pytest.mark.parametrize("key", KEYS)
def test_what_is_remembered_survives_rounds_and_other_values(key):
    """At equal losses the second step of randomised response and symmetric bits is none: the memory itself is seen."""
    if key in ("l-oue", "l-soue"):
        with pytest.raises(InvalidInput, match="be at most"):
            protocol(key, 1.0, 6, limit=1.0)
        return
    law, rng = protocol(key, 1.0, 6, limit=1.0), np.random.default_rng(1)
    users = law.client(300, rng)
    values = rng.integers(0, 6, 300)
    first = users.report(values, rng)
    users.report((values + 1) % 6, rng)
    assert np.array_equal(users.report(values, rng), first)
    other = law.client(300, rng).report(values, rng)
    assert not np.array_equal(other, first)


@pytest.mark.parametrize("key", KEYS)
def test_rounds_of_one_user_depend_on_each_other_only_through_the_memory(key):
    """Supports of the own item in two rounds: the chance of both is known. 6 000 users, z test at the rate 1e-6."""
    law, rng = protocol(key, 1.0, 4), np.random.default_rng(2)
    users, values = law.client(6_000, rng), np.zeros(6_000, dtype=int)
    rounds = [users.report(values, rng) for _ in range(2)]
    own = [_supports_first_item(law, reports) for reports in rounds]
    both = int((own[0] & own[1]).sum())
    p, p2, q2 = law.first.p, law.second.p, law.second.q
    expected = p * p2**2 + (1 - p) * q2**2
    assert stats.binomtest(both, 6_000, expected).pvalue > RATE


def _supports_first_item(law, reports):
    return np.array([law.support(reports[i : i + 1])[0] for i in range(len(reports))]).astype(bool)


@pytest.mark.parametrize("key", KEYS)
def test_simulated_rounds_share_the_memory_of_single_reports(key):
    """Estimates of two rounds: their covariance is the memory's variance, above 0. 1 000 collections, rate 1e-6.

    The correlation of an item's two supports is compared with that of clients: Fisher's z on 1 000 and 300 pairs.
    """
    law, rng = protocol(key, 1.0, 4, limit=1.9), np.random.default_rng(3)
    counts = np.array([30, 20, 0, 10])
    simulated = np.stack([law.simulate_rounds(counts, 2, rng)[:, 0] for _ in range(1000)])
    reported = []
    for _ in range(300):
        users = law.client(60, rng)
        values = np.repeat(np.arange(4), counts)
        reported.append([law.support(users.report(values, rng))[0] for _ in range(2)])
    pairs = [np.corrcoef(table.T)[0, 1] for table in (simulated, np.array(reported))]
    z = (math.atanh(pairs[0]) - math.atanh(pairs[1])) / math.sqrt(1 / 997 + 1 / 297)
    assert abs(z) < stats.norm.isf(RATE / 2)
    assert pairs[0] > 0.1


@pytest.mark.parametrize("key", KEYS)
def test_each_simulated_round_has_the_law_of_one(exact, key):
    """Third of three rounds against the exact joint law; 4 000 collections of 2 users, seed 4, rate 1e-6."""
    law, rng = protocol(key, 1.0, 3), np.random.default_rng(4)
    counts = np.array([1, 1, 0])
    drawn = np.stack([law.simulate_rounds(counts, 3, rng)[2] for _ in range(4000)])
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


def test_a_user_spends_for_each_value_the_loss_of_the_rounds_it_was_held_in():
    law, rng = protocol("l-oue", 1.0, 5, limit=3.0), np.random.default_rng(1)
    users = law.client(2, rng)
    assert users.privacy_spent().same_changes.tolist() == [0, 0]
    for values in ([0, 1], [0, 2], [0, 2], [0, 3]):
        users.report(values, rng)
    once, twice, four = (law.loss_after(rounds) for rounds in (1, 2, 4))
    assert users.privacy_spent().same_changes == pytest.approx([four, twice + 2 * once], rel=1e-12)


def test_hashing_spends_for_each_hash():
    """Two hashes: every user has held both of them, 50 rounds in all, so each is near its limit."""
    law, rng = protocol("l-blh", 1.0, 50, limit=3.0), np.random.default_rng(1)
    users = law.client(20, rng)
    for v in range(50):
        users.report(np.full(20, v), rng)
    assert users.privacy_spent().same_changes == pytest.approx([6] * 20, rel=1e-3)
    assert (users.privacy_spent().no_change > 12).all()


def test_the_largest_epsilon_of_an_optimised_second_step_is_named_and_reached():
    with pytest.raises(InvalidInput, match=r"at most 1\.31") as refused:
        protocol("l-soue", 1.5, 10, limit=2.0)
    most = float(str(refused.value).split("at most ")[1].split(" ")[0])
    assert protocol("l-soue", most - 1e-5, 10, limit=2.0).privacy_loss() == pytest.approx(most, abs=2e-5)


def test_the_limit_is_twice_epsilon_unless_given_and_never_below():
    assert protocol("l-grr", 1.5, 10).limit == 3
    assert protocol("l-grr", 40.0, 10).limit == 64
    for key in KEYS:
        with pytest.raises(InvalidInput, match="limit"):
            protocol(key, 2.0, 10, limit=1.9)
        with pytest.raises(InvalidInput, match="limit"):
            protocol(key, 2.0, 10, limit=math.nan)


@pytest.mark.parametrize("key", KEYS)
def test_bad_rounds_are_refused(key):
    law, rng = protocol(key, 1.0, 4), np.random.default_rng(1)
    assert isinstance(law, Longitudinal)
    for rounds in (0, -1, 1.5, "2", True):
        with pytest.raises(InvalidInput, match="rounds"):
            law.simulate_rounds([1, 0, 0, 0], rounds, rng)
        with pytest.raises(InvalidInput, match="rounds"):
            law.loss_after(rounds)
    users = law.client(3, rng)
    with pytest.raises(InvalidInput, match="be 3 values"):
        users.report([0, 1], rng)
    with pytest.raises(InvalidInput, match="users"):
        law.client(-1, rng)
