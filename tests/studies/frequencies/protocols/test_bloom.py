"""RAPPOR for strings: accounting, law of the bits, memory, decoding."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import bloom_rappor, rappor
from mechdesign.studies.frequencies.protocols.bloom import BloomReports, BloomTally

RATE = 1e-6


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
@pytest.mark.parametrize("hashes", [1, 2, 5])
@pytest.mark.parametrize("factor", [None, 1.0, 3.0])
def test_one_report_has_the_epsilon_asked_for_and_all_together_the_limit(epsilon, hashes, factor):
    limit = None if factor is None else factor * epsilon
    law = bloom_rappor(epsilon, 64, hashes, 4, limit)
    assert law.privacy_loss() == pytest.approx(epsilon, rel=1e-12)
    assert law.limit_loss() == pytest.approx(limit or math.inf, rel=1e-12)


def test_the_accounting_is_that_of_the_rappor_paper():
    """eps_infinity = 2 h ln((1 - f/2) / (f/2)); eps_1 = h ln(q* (1 - p*) / (p* (1 - q*)))."""
    for h, f, p, q in ((2, 0.5, 0.5, 0.75), (1, 0.25, 0.35, 0.65), (4, 0.75, 0.0, 1.0)):
        law = rappor(64, h, 8, f, p, q)
        one, zero = f / 2 * (p + q) + (1 - f) * q, f / 2 * (p + q) + (1 - f) * p
        assert law.limit_loss() == pytest.approx(2 * h * math.log((1 - f / 2) / (f / 2)))
        assert law.privacy_loss() == pytest.approx(h * math.log(one * (1 - zero) / (zero * (1 - one))))


def test_the_loss_is_the_largest_ratio_over_all_reports_of_two_disjoint_filters():
    law = bloom_rappor(1.2, 4, 2, 1)
    coins = law.once

    def chance(report, bits):
        return math.prod(
            (s if y else 1 - s) for y, b in zip(report, bits, strict=True) for s in [[coins.q, coins.p][b]]
        )

    reports = itertools.product((0, 1), repeat=4)
    worst = max(math.log(chance(y, (1, 1, 0, 0)) / chance(y, (0, 0, 1, 1))) for y in reports)
    assert worst == pytest.approx(1.2, rel=1e-12)


def test_filters_set_at_most_h_bits_and_differ_between_cohorts():
    law = bloom_rappor(1.0, 128, 3, 16)
    filters = law.filters([f"site{i}.example" for i in range(50)])
    ones = filters.sum(axis=2)
    assert filters.shape == (50, 16, 128)
    assert ones.max() == 3
    assert (ones < 3).mean() < 0.1
    assert len({row.tobytes() for row in filters[0]}) == 16


def test_filters_use_more_than_eight_functions_where_asked():
    assert bloom_rappor(1.0, 4096, 16, 1).filters(["a"]).sum() == 16


@pytest.mark.parametrize("limit", [None, 4.0])
def test_bits_of_single_reports_and_of_simulations_have_the_law_stated(limit):
    """30 000 users in 4 cohorts: every bit count within its binomial law; false-positive rate 1e-6 in all (seed 1)."""
    law, rng = bloom_rappor(2.0, 16, 2, 4, limit), np.random.default_rng(1)
    filters = law.filters(["a", "b"])
    strings = ["a"] * 20_000 + ["b"] * 10_000
    for tally in (law.tally(law.report(strings, rng)), law.simulate({"a": 20_000, "b": 10_000}, rng)):
        assert tally.users.sum() == 30_000
        assert stats.chisquare(tally.users).pvalue > RATE
        for cohort, bit in itertools.product(range(4), range(16)):
            shares = np.array([2 / 3, 1 / 3])
            chance = shares @ np.where(filters[:, cohort, bit], law.once.p, law.once.q)
            observed = int(tally.ones[cohort, bit])
            # who is in the cohort is random: the share of "a" among its 7 500 users adds to the spread
            spread = math.sqrt(int(tally.users[cohort]) * 0.25)
            assert abs(observed - chance * tally.users[cohort]) < stats.norm.isf(RATE / 256) * spread


def test_permanent_bits_are_remembered_for_each_string():
    law, rng = rappor(64, 2, 4, f=0.5, p=0.0, q=1.0), np.random.default_rng(1)
    users = law.client(50, rng)
    first = users.report(["a"] * 50, rng)
    users.report(["b"] * 50, rng)
    again = users.report(["a"] * 50, rng)
    assert np.array_equal(first.bits, again.bits)
    assert np.array_equal(first.cohorts, again.cohorts)
    assert not np.array_equal(first.bits, law.report(["a"] * 50, rng).bits)


def test_frequent_strings_are_found_and_absent_ones_are_not():
    """100 000 users, 200 candidates of which 195 are absent; at most 5% of runs find an absent one. Seeds 0 to 19.

    Binomial(20, .05) exceeds 6 with probability 3e-5.
    """
    law = bloom_rappor(4.0, 64, 2, 8)
    counts = {"alpha": 40_000, "beta": 30_000, "gamma": 15_000, "delta": 10_000, "epsilon": 5_000}
    candidates = [*counts, *(f"absent{i}" for i in range(195))]
    wrong = 0
    for seed in range(20):
        decoded = law.decode(law.simulate(counts, np.random.default_rng(seed)), candidates)
        assert decoded.converged
        found = {text for text, is_found in zip(decoded.strings, decoded.found, strict=True) if is_found}
        assert {"alpha", "beta", "gamma", "delta"} <= found
        wrong += bool(found - set(counts))
        for text, count, error in zip(decoded.strings, decoded.counts, decoded.standard_errors, strict=True):
            assert abs(count - counts.get(text, 0)) < 6 * error
    assert wrong <= 6


def test_decoding_reports_is_decoding_their_tally():
    law, rng = bloom_rappor(6.0, 32, 2, 4), np.random.default_rng(1)
    decoded = law.decode(law.tally(law.report(["x"] * 3000 + ["y"] * 1000, rng)), ["x", "y", "z"])
    assert decoded.strings[:2] == ("x", "y")
    assert decoded.counts[0] == pytest.approx(3000, abs=5 * decoded.standard_errors[0])
    assert decoded.found.tolist() == [True, True, False]


BAD = [
    (lambda law, rng: law.report("abc", rng), "list of strings"),
    (lambda law, rng: law.report(["a", 3], rng), r"strings\[1\]"),
    (lambda law, rng: law.client(2, rng).report(["a"], rng), "be 2 strings"),
    (lambda law, rng: law.simulate({"a": -1}, rng), "counts"),
    (lambda law, rng: law.simulate({"a": 1.5}, rng), "counts"),
    (lambda law, rng: law.simulate({"a": True}, rng), "counts"),
    (lambda law, rng: law.simulate({3: 5}, rng), "be a string"),
    (lambda law, rng: law.simulate({}, rng), "counts"),
    (lambda law, rng: law.simulate(["a"], rng), "counts"),
    (lambda law, rng: law.decode(law.simulate({"a": 10}, rng), []), "candidates"),
    (lambda law, rng: law.decode(law.simulate({"a": 10}, rng), ["a", "a"]), "candidates"),
    (lambda law, rng: law.decode(law.simulate({"a": 10}, rng), ["a"], error=0), "error"),
    (lambda law, rng: law.decode(law.simulate({"a": 0}, rng), ["a"]), "tally"),
    (lambda law, rng: law.decode(BloomTally(np.zeros(3), np.zeros((3, 3))), ["a"]), "tally"),
    (lambda law, rng: law.tally(BloomReports(np.array([99]), np.zeros((1, 32), dtype=bool))), "cohorts"),
    (lambda law, rng: law.tally(BloomReports(np.array([0]), np.zeros((2, 32), dtype=bool))), "one cohort for each"),
    (lambda law, rng: bloom_rappor(1.0, 3, 2), "bits"),
    (lambda law, rng: bloom_rappor(1.0, 64, 0), "hashes"),
    (lambda law, rng: bloom_rappor(1.0, 64, 2, 0), "cohorts"),
    (lambda law, rng: bloom_rappor(2.0, 64, 2, 2, limit=1.0), "limit"),
    (lambda law, rng: rappor(64, 2, 2, 0.0, 0.5, 0.75), "f, p, q"),
    (lambda law, rng: rappor(64, 2, 2, 0.5, 0.75, 0.5), "f, p, q"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input_is_refused(case):
    use, words = BAD[case]
    with pytest.raises(InvalidInput, match=words):
        use(bloom_rappor(1.0, 32, 2, 3), np.random.default_rng(1))


def test_what_is_not_asked_for_is_what_rappor_s_paper_uses() -> None:
    law = bloom_rappor(2.0)
    assert (law.bits, law.hashes, law.cohorts, law.first) == (128, 2, 16, None)
