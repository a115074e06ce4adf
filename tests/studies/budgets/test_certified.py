"""The certified search: its tests never lie more often than stated, its bracket holds what is exactly true."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate, stats

from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.studies.budgets import certified
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.ledger import Ledger, RunTally
from mechdesign.studies.budgets.populations import msnbc_like
from mechdesign.studies.budgets.searches import Range
from mechdesign.studies.budgets.simulation import Question
from mechdesign.studies.frequencies.protocols import protocol

BINARY = np.array([120, 80])
WISH = Constraint("l1", 0.2, 0.8)


def exact_probability(epsilon: float) -> float:
    """``P(l1 <= 0.2)`` for binary randomised response: the l1 error is twice that of one item."""
    law = protocol("grr", epsilon, 2)
    ones = np.convolve(stats.binom.pmf(np.arange(81), 80, law.p), stats.binom.pmf(np.arange(121), 120, law.q))
    estimate = (np.arange(201) / 200 - law.q) / (law.p - law.q)
    return float(ones[2 * np.abs(estimate - 0.4) <= 0.2].sum())


@pytest.mark.parametrize(("met", "runs", "probability"), [(0, 3, 0.5), (7, 9, 0.6), (9, 10, 0.9), (50, 60, 0.7)])
def test_evidence_is_the_mixed_likelihood_ratio(met, runs, probability):
    def ratio(x: float) -> float:
        return (x / probability) ** met * ((1 - x) / (1 - probability)) ** (runs - met)

    value = integrate.quad(ratio, probability, 1)[0] / (1 - probability)
    assert certified.evidence_above(met, runs, probability) == pytest.approx(math.log(value), abs=1e-9)


@pytest.mark.parametrize("probability", [0.3, 0.9])
def test_evidence_has_expectation_one_at_the_boundary(probability):
    n = 25
    values = [math.exp(certified.evidence_above(s, n, probability)) for s in range(n + 1)]
    assert stats.binom.pmf(np.arange(n + 1), n, probability) @ values == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("probability", [0.2, 0.5])
def test_evidence_shrinks_in_expectation_below_the_boundary(probability):
    n = 25
    values = [math.exp(certified.evidence_above(s, n, probability)) for s in range(n + 1)]
    assert stats.binom.pmf(np.arange(n + 1), n, probability - 0.1) @ values < 1


class Coins:
    """A ledger of coins that meet the constraint with one probability at every epsilon."""

    def __init__(self, chance: float, wanted: float, seed: int) -> None:
        self.question = Question("grr", BINARY, Constraint("l1", 0.2, wanted))
        self._chance, self._rng = chance, np.random.default_rng(seed)

    def batch(self, epsilon: float, stream: int, batch: int, runs: int = 100) -> RunTally:
        return RunTally(runs, int(self._rng.binomial(runs, self._chance)), 0.0)


@pytest.mark.parametrize(("chance", "wrong"), [(0.9, "fails"), (0.9 - 1e-9, "holds")])
def test_verdicts_at_the_boundary_err_as_rarely_as_stated(chance, wrong):
    """1000 tests at alpha = 0.1 with the chance on the boundary; seeds 0-999.

    A test that errs at 0.1 is refused with probability 1e-4, one that errs at 0.15 with probability 0.86.
    """
    verdicts = [certified.decide(Coins(chance, 0.9, seed), 1.0, 0.1, 2000).verdict for seed in range(1000)]
    assert verdicts.count(wrong) <= stats.binom.isf(1e-4, 1000, 0.1)
    assert verdicts.count(wrong) > 0  # the bound is used, not slack


def test_the_search_is_wrong_no_more_often_than_stated():
    """240 searches with the stated error 0.05, against exact probabilities; seeds 0-239.

    A search that errs at 0.05 is refused with probability 1e-3 (binomial test), one that errs at 0.12 with 0.8, at
    0.15 with 0.98.
    """
    wrong, widths = 0, []
    for seed in range(240):
        found = certified.search(
            Ledger(Question("grr", BINARY, WISH, seed=seed)), Range(0.2, 4.0, 0.4), error=0.05, most_runs=600
        )
        assert found.lower is not None
        wrong += exact_probability(found.upper) < 0.8 or exact_probability(found.lower) >= 0.8
        widths.append(found.upper - found.lower)
    assert wrong <= stats.binom.isf(1e-3, 240, 0.05)
    assert np.mean(widths) < 1.0


def test_the_bracket_holds_the_exact_budget():
    found = certified.search(Ledger(Question("grr", BINARY, WISH)), Range(0.2, 4.0, 0.05))
    assert found.lower is not None
    assert exact_probability(found.lower) < 0.8 <= exact_probability(found.upper)
    assert found.upper - found.lower < 0.15


def test_far_epsilons_cost_one_batch():
    found = certified.search(Ledger(Question("oue", msnbc_like(), Constraint("kendall", 0.5, 0.5))), Range())
    by_distance = sorted(found.verdicts, key=lambda verdict: abs(math.log(verdict.epsilon / found.upper)))
    assert by_distance[-1].tally.runs == 100
    assert found.simulations < 20_000


def test_kendall_on_seventeen_items_and_a_million_users_is_bracketed_to_two_hundredths():
    wish = Constraint("kendall", 0.7, 0.9)
    found = certified.search(Ledger(Question("oue", msnbc_like(10**6), wish)), Range(), most_runs=4000)
    assert found.lower is not None
    assert found.upper - found.lower < 0.04
    assert found.lower > 0.2
    assert found.upper < 0.28


def test_verdicts_never_contradict_each_other_in_order():
    found = certified.search(Ledger(Question("grr", BINARY, WISH, seed=3)), Range(0.2, 4.0, 0.05))
    fails = max(verdict.epsilon for verdict in found.verdicts if verdict.verdict == certified.FAILS)
    holds = min(verdict.epsilon for verdict in found.verdicts if verdict.verdict == certified.HOLDS)
    assert (found.lower, found.upper) == (fails, holds)
    assert fails < holds
    assert len(found.verdicts) <= certified.most_tests(Range(0.2, 4.0, 0.05))


def test_an_easy_constraint_is_met_at_the_least_epsilon():
    found = certified.search(Ledger(Question("grr", BINARY, Constraint("l1", 50.0, 0.5))), Range(0.5, 4.0))
    assert (found.lower, found.upper, found.epsilon) == (None, 0.5, 0.5)


def test_a_constraint_out_of_reach_names_the_best():
    with pytest.raises(InvalidInput, match=r"best seen: probability 0, average .* at eps = 1") as caught:
        certified.search(Ledger(Question("grr", BINARY, Constraint("l1", 0.001, 0.9))), Range(0.1, 1.0))
    assert caught.value.field == "constraint"


def test_an_undecided_end_is_no_answer():
    with pytest.raises(NoAnswer, match="do not decide eps = 4") as caught:
        certified.search(Coins(0.9, 0.9, 1), Range(0.2, 4.0), most_runs=100)
    assert caught.value.upper == math.inf


@pytest.mark.parametrize("options", [{"error": 0.0}, {"error": 0.5}, {"error": math.nan}, {"most_runs": 99}], ids=str)
def test_bad_options_are_refused(options):
    with pytest.raises(InvalidInput):
        certified.search(Ledger(Question("grr", BINARY, WISH)), Range(), **options)


class Sloped(Coins):
    """Coins whose chance is given by epsilon."""

    def __init__(self, chances, wanted: float, seed: int) -> None:
        super().__init__(0.5, wanted, seed)
        self._chances = chances

    def batch(self, epsilon: float, stream: int, batch: int, runs: int = 100) -> RunTally:
        self._chance = self._chances(epsilon)
        return super().batch(epsilon, stream, batch, runs)


def test_ends_are_decided_ones_where_the_least_epsilon_is_not():
    # on the boundary up to eps = 1, above it from there on
    found = certified.search(Sloped(lambda eps: 0.5 if eps < 1 else 0.9, 0.5, 5), Range(0.1, 4.0, 0.2), most_runs=500)
    by_epsilon = {verdict.epsilon: verdict.verdict for verdict in found.verdicts}
    assert by_epsilon[found.upper] == certified.HOLDS
    assert 1 <= found.upper < 1.2
    assert found.lower is None or by_epsilon[found.lower] == certified.FAILS


class Treacherous:
    """Lawful noise at every epsilon, and the worst joint law: at one place it picks, which the noise itself leads to,
    the verdict is wrong.

    Chances are on the boundary between the ends of [0.5, 8.5]. A stream has one uniform t. Above 4.5, which is never
    decided, epsilons above the place of t hold and those below are undecided, except that one within 2^-11 of it fails,
    which is wrong: with probability 0.001 at any one epsilon.
    """

    question = Question("grr", BINARY, Constraint("l1", 0.2, 0.5))

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def batch(self, epsilon: float, stream: int, batch: int, runs: int = 100) -> RunTally:
        place = np.random.default_rng([self._seed, stream]).random()
        away = (epsilon - 4.5) / 4 - place
        met = runs // 2
        if epsilon == 0.5 or (epsilon > 4.5 and abs(away) < 2**-11):
            met = 0
        elif epsilon == 8.5 or (epsilon > 4.5 and away > 0):
            met = runs
        return RunTally(runs, met, 0.0)


def test_noise_that_chose_an_epsilon_does_not_test_it():
    """60 searches; with the noise of the bisection all would be wrong. An error of 0.05 is refused at 1e-4."""
    span = Range(0.5, 8.5, 0.005)
    assert 0.05 / certified.most_tests(span) > 2**-10
    lowers = [certified.search(Treacherous(seed), span, most_runs=100).lower for seed in range(60)]
    assert sum(lower != 0.5 for lower in lowers) <= stats.binom.isf(1e-4, 60, 0.05)


def test_the_error_is_shared_by_the_path_and_all_tests_beside_it():
    # 2 ends; 3 halvings of 4 reach 0.5; 4 on either side reach 0.25
    assert certified.most_tests(Range(1.0, 5.0, 0.5)) == 2 + 3 + 4 + 4
