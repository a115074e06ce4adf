"""Heavy hitters by prefixes."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import prefix_search
from mechdesign.studies.frequencies.protocols.prefix import PrefixReports

LETTERS = "abcdefghijklmnopqrstuvwxyz"
COUNTS = {"alpha": 40_000, "alphabet": 25_000, "beta": 20_000, "be": 10_000, "zebra": 5_000}


def test_frequent_strings_of_any_length_are_found_among_200_billion():
    search = prefix_search(4.0, LETTERS, 8, beam=16, step=2)
    hitters = search.simulate(COUNTS, np.random.default_rng(1))
    found = {text for text, is_found in zip(hitters.strings, hitters.found, strict=True) if is_found}
    assert found == set(COUNTS)
    for text, share in zip(hitters.strings, hitters.frequencies, strict=True):
        assert abs(share - COUNTS.get(text, 0) / 100_000) < 6 * hitters.standard_error + 0.02


def test_reports_lead_to_the_same_strings():
    """A tenth of the users, by single reports with real hashes."""
    counts = {"abba": 6000, "head": 3000, "bed": 1000}
    search, rng = prefix_search(4.0, "abcdefgh", 4, beam=8), np.random.default_rng(2)
    strings = [text for text, count in counts.items() for _ in range(count)]
    reports = search.report(strings, rng)
    assert stats.chisquare(np.bincount(reports.groups, minlength=4)).pvalue > 1e-6
    hitters = search.search(reports)
    assert hitters.strings[:3] == ("abba", "head", "bed")
    assert hitters.frequencies[0] == pytest.approx(0.6, abs=6 * hitters.standard_error)


def test_estimates_of_reports_and_of_simulations_have_one_law():
    """The estimate of a string in a group of its own: two-sample KS of 200 runs each, rate 1e-6, seed 3."""
    search, rng = prefix_search(2.0, "ab", 1, beam=2), np.random.default_rng(3)
    counts, strings = {"a": 60, "b": 40}, ["a"] * 60 + ["b"] * 40

    def share(hitters):
        return hitters.frequencies[hitters.strings.index("a")] if "a" in hitters.strings else -1.0

    simulated = [share(search.simulate(counts, rng)) for _ in range(200)]
    reported = [share(search.search(search.report(strings, rng))) for _ in range(200)]
    assert stats.ks_2samp(simulated, reported).pvalue > 1e-6


def test_absent_strings_are_rarely_found():
    """One holder of one string a thousand times: 40 runs, each with at most 5% chance; Binomial(40, .05) <= 11."""
    search = prefix_search(1.0, "abcd", 3, beam=8)
    wrong = 0
    for seed in range(40):
        hitters = search.simulate({"dad": 10_000}, np.random.default_rng(seed))
        wrong += any(is_found and text != "dad" for text, is_found in zip(hitters.strings, hitters.found, strict=True))
    assert wrong <= 11


def test_one_report_spends_epsilon():
    search = prefix_search(1.7, LETTERS, 6)
    assert search.privacy_loss() == pytest.approx(1.7, rel=1e-12)
    assert search.groups == 6
    assert prefix_search(1.7, LETTERS, 7, step=3).groups == 3


def test_strings_that_have_ended_do_not_go_on():
    search = prefix_search(8.0, "ab", 4, beam=50, step=2)
    hitters = search.simulate({"a": 1000, "ab": 1000, "abab": 1000}, np.random.default_rng(1))
    assert all("\0" not in text and len(text) <= 4 for text in hitters.strings)
    assert len(set(hitters.strings)) == len(hitters.strings)
    assert set(hitters.strings[:3]) == {"a", "ab", "abab"}


def test_a_billion_users_cost_no_more():
    counts = {text: count * 10_000 for text, count in COUNTS.items()}
    hitters = prefix_search(1.0, LETTERS, 8, beam=16, step=2).simulate(counts, np.random.default_rng(1))
    assert set(hitters.strings[:5]) == set(COUNTS)


def test_the_standard_error_is_that_of_the_last_group():
    search = prefix_search(1.0, LETTERS, 5)
    assert search.standard_error(50_000) == pytest.approx(math.sqrt(search.law.variance(0.0, 10_000)))


BAD = [
    (lambda s, rng: s.report(["abz"], rng), "alphabet"),
    (lambda s, rng: s.report(["aaaaa"], rng), "at most 4"),
    (lambda s, rng: s.report([3], rng), "alphabet"),
    (lambda s, rng: s.simulate({"abz": 3}, rng), "alphabet"),
    (lambda s, rng: s.simulate({"a": -3}, rng), "counts"),
    (lambda s, rng: s.simulate({"a": 1.5}, rng), "counts"),
    (lambda s, rng: s.simulate({}, rng), "counts"),
    (lambda s, rng: s.simulate(None, rng), "counts"),
    (lambda s, rng: s.simulate({"a": 0}, rng), "group 0"),
    (lambda s, rng: s.simulate({"a": 10}, rng, error=1.0), "error"),
    (lambda s, rng: s.search(PrefixReports(np.array([9]), np.zeros((1, 2), dtype=np.uint64))), "groups"),
    (lambda s, rng: prefix_search(1.0, "", 3), "alphabet"),
    (lambda s, rng: prefix_search(1.0, "aab", 3), "alphabet"),
    (lambda s, rng: prefix_search(1.0, "a\0", 3), "null"),
    (lambda s, rng: prefix_search(1.0, "ab", 0), "length"),
    (lambda s, rng: prefix_search(1.0, "ab", 3, step=4), "step"),
    (lambda s, rng: prefix_search(1.0, "ab", 3, beam=0), "beam"),
    (lambda s, rng: prefix_search(1.0, LETTERS, 8, beam=10, step=4), "beam"),
    (lambda s, rng: prefix_search(0.0, "ab", 3), "eps"),
]


@pytest.mark.parametrize("case", range(len(BAD)))
def test_bad_input_is_refused(case):
    use, words = BAD[case]
    with pytest.raises(InvalidInput, match=words):
        use(prefix_search(1.0, "abcd", 4), np.random.default_rng(1))
