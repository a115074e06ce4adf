"""CAPRI by simulation and over time."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.capri import Totals, capri, capri_from, over_time, selection_law, simulate_etc
from mechdesign.studies.budgets.capri_exact import budget
from mechdesign.studies.budgets.ledger import Memory
from mechdesign.studies.budgets.populations import water_like, water_sample
from mechdesign.studies.frequencies.protocols import protocol

CITY = Capacity(np.arange(41), water_like(), 1_700_000)
RARE = Requirement("fp", 0.05)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("name", ["grr", "oue"])
def test_the_simulated_search_ends_near_the_exact_budget(name):
    found = capri(CITY, RARE, name, rng(), runs=10_000, phi=0.01)
    assert found.epsilon == pytest.approx(budget(CITY, RARE, name).epsilon, abs=0.1)
    assert [test.epsilon for test in found.tested[:2]] == pytest.approx([5.0005, 2.50075])
    assert len(found.tested) == 10


def test_the_search_is_reproducible():
    assert capri(CITY, RARE, "grr", rng(1), runs=500) == capri(CITY, RARE, "grr", rng(1), runs=500)


def test_the_relaxed_search_moves_its_ends_less_far():
    strict = capri(CITY, RARE, "grr", rng(), runs=2000, phi=0.2)
    relaxed = capri(CITY, RARE, "grr", rng(), runs=2000, phi=0.2, delta=0.08)
    assert strict.tested[0] == relaxed.tested[0]
    assert relaxed.tested[1].epsilon == pytest.approx((0.001 + strict.tested[0].epsilon + 0.08) / 2)
    assert len(relaxed.tested) > len(strict.tested)


@pytest.mark.parametrize("delta", [0.005, 0.1, -0.001, float("nan")])
def test_relaxations_that_never_end_are_refused(delta):
    with pytest.raises(InvalidInput, match="delta"):
        capri(CITY, RARE, "grr", rng(), runs=10, phi=0.01, delta=delta)


def test_simulated_totals_have_the_exact_mean_and_deviation():
    """z-tests at 1e-6; seed 3, n = 5000 collections."""
    law = protocol("oue", 1.0, 41)
    drawn = simulate_etc(CITY, law, 5000, rng(3))
    assert abs(drawn.mean() - CITY.total) < 4.9 * CITY.deviation(law) / 5000**0.5
    assert abs(drawn.std() / CITY.deviation(law) - 1) < 4.9 / 10_000**0.5


def test_the_law_of_the_selected_epsilon_is_that_of_repeated_searches():
    """300 searches of 60 runs against the law, by a chi-squared test at 1e-6 over epsilons expected 8 times; seed 5.

    Searches of 600 runs, whose law is on three epsilons, would be told apart with power 1.
    """
    sample = Capacity(np.arange(41), water_sample(), 18_000)
    law = selection_law(sample, RARE, "grr", runs=60, phi=0.2)
    assert sum(chance for _, chance in law) == pytest.approx(1.0, abs=1e-6)
    source = rng(5)
    found = [capri(sample, RARE, "grr", source, runs=60, phi=0.2).epsilon for _ in range(300)]
    often = [(epsilon, chance) for epsilon, chance in law if 300 * chance >= 8]
    assert len(often) >= 4
    counts = [sum(abs(value - epsilon) < 1e-9 for value in found) for epsilon, _ in often]
    rest = 1 - sum(chance for _, chance in often)
    observed, expected = [*counts, 300 - sum(counts)], [300 * chance for _, chance in often] + [300 * rest]
    bar = stats.chi2.isf(1e-6, len(often))
    assert sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True)) < bar


def test_more_runs_settle_on_one_epsilon():
    """Figure 5.8: the share of the most frequent epsilon grows with the runs; the exact route has one value only."""
    shares = [
        selection_law(CITY, Requirement("fp", 0.1), "grr", runs=runs)[0][1] for runs in (500, 5000, 50_000, 10**7)
    ]
    assert shares == sorted(shares)
    assert shares[-1] > 0.999
    best = selection_law(CITY, Requirement("fp", 0.1), "grr", runs=10**7)[0][0]
    exact = budget(CITY, Requirement("fp", 0.1), "grr").epsilon
    assert exact <= best < exact + 0.01


# -- collections that are kept ----------------------------------------------------------------------------------------


class Stopped(Exception):
    pass


def test_a_search_over_kept_collections_ends_near_the_exact_budget():
    found = capri_from(Memory(Totals("grr", CITY)), RARE, runs=10_000)
    assert found.epsilon == pytest.approx(budget(CITY, RARE, "grr").epsilon, abs=0.1)
    assert found.runs == 10_000


@pytest.mark.parametrize("name", ["grr", "hr"])
def test_a_stopped_search_resumes_to_the_same_answer_with_no_collection_made_twice(name):
    asked = Totals(name, Capacity(np.arange(41), water_sample(), 25_000), seed=4)
    whole = Memory(asked)
    found = capri_from(whole, RARE, runs=1500, phi=1.0)
    entries, left = {}, [3]

    def stop():
        left[0] -= 1
        if not left[0]:
            raise Stopped

    with pytest.raises(Stopped):
        capri_from(Memory(asked, entries, stop), RARE, runs=1500, phi=1.0)
    resumed = Memory(asked, entries)
    assert capri_from(resumed, RARE, runs=1500, phi=1.0) == found
    assert resumed.entries == whole.entries
    assert resumed.simulated == whole.simulated - sum(runs for _, _, _, runs in list(entries)[:3])


def test_requirements_of_one_capacity_share_their_collections():
    memory = Memory(Totals("oue", CITY))
    capri_from(memory, RARE, runs=500, phi=0.5)
    before = memory.simulated
    capri_from(memory, RARE, runs=500, phi=0.5)
    assert memory.simulated == before
    capri_from(memory, Requirement("tn", 0.95), runs=500, phi=0.5)  # Pr[TN] >= .95 where Pr[FP] <= .05
    assert memory.simulated <= before + 500


def test_kept_totals_are_fresh_at_every_epsilon_batch_and_seed():
    asked = Totals("grr", CITY)
    drawn = [asked.values(1.0, 0, 0, 3), asked.values(1.0, 0, 1, 3), asked.values(1.0000001, 0, 0, 3)]
    drawn.append(Totals("grr", CITY, seed=1).values(1.0, 0, 0, 3))
    assert len({float(row[0]) for row in drawn}) == 4


def test_kept_totals_have_the_exact_mean_and_deviation():
    """z-tests at 1e-6; seed 0, n = 5000 collections in 5 batches."""
    asked, law = Totals("oue", CITY), protocol("oue", 1.0, 41)
    drawn = np.concatenate([asked.values(1.0, 0, batch, 1000) for batch in range(5)])
    assert abs(drawn.mean() - CITY.total) < 4.9 * CITY.deviation(law) / 5000**0.5
    assert abs(drawn.std() / CITY.deviation(law) - 1) < 4.9 / 10_000**0.5


@pytest.mark.parametrize(
    "other",
    [
        Totals("oue", CITY),
        Totals("grr", CITY, 1),
        Totals("grr", Capacity(np.arange(41), water_like(), 1_700_001)),
        Totals("grr", Capacity(np.arange(1, 42), water_like(), 1_700_000)),
        Totals("grr", Capacity(np.arange(41), water_like() + 1, 1_700_000)),
    ],
)
def test_other_questions_are_told_apart(other):
    assert other.digest != Totals("GRR", CITY).digest == Totals("grr", CITY).digest


@pytest.mark.parametrize("seed", [-1, True, 1.5])
def test_doubtful_seeds_are_refused(seed):
    with pytest.raises(InvalidInput, match="seed"):
        Totals("grr", CITY, seed)


def test_a_requirement_out_of_reach_names_the_best():
    with pytest.raises(InvalidInput, match="best reached"):
        capri(CITY, Requirement("fp", 1e-4), "sue", rng(), runs=500, most=0.2)


def test_budgets_over_time_follow_the_last_estimate():
    sample = water_sample()
    steps = over_time(np.arange(41), [sample, sample, sample], 20_000, 0.05, "grr", 3.0, rng(1))
    assert steps[0].epsilon == 3.0
    assert all(step.true_total == 15_620 for step in steps)
    exact = budget(Capacity(np.arange(41), sample, 20_000), Requirement("fp", 0.05), "grr").epsilon
    assert all(0.3 * exact < step.epsilon < 3 * exact for step in steps[1:])
    assert over_time(np.arange(41), [sample] * 3, 20_000, 0.05, "grr", 3.0, rng(1)) == steps


def test_budgets_over_time_know_both_sides_of_the_capacity():
    low, high = np.array([900, 100]), np.array([100, 900])
    steps = over_time([0, 1], [low, high, low], 500, 0.01, "grr", 3.0, rng(2))
    assert [step.event for step in steps] == ["tn", "tp", "tn"]
    assert all(step.planned for step in steps)


def test_an_estimate_at_the_capacity_asks_for_the_largest_budget():
    steps = over_time([0, 1], [[500, 500]] * 40, 500, 0.01, "grr", 1.0, rng(3), most=2.0)
    unplanned = [step for step in steps if not step.planned]
    assert unplanned
    assert all(step.epsilon == 2.0 for step in unplanned)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: capri(CITY, RARE, "grr", rng(), runs=0), "runs"),
        (lambda: capri(CITY, RARE, "grr", 3), "rng"),
        (lambda: capri(CITY, RARE, "grr", rng(), phi=0.0), "phi"),
        (lambda: capri(CITY, RARE, "grr", rng(), least=3.0, most=2.0), "range"),
        (lambda: capri(CITY, Requirement("fn", 0.1), "grr", rng()), "can happen"),
        (lambda: over_time([0, 1], [], 500, 0.01, "grr", 1.0, rng()), "populations"),
        (lambda: over_time([0, 1], [[1, 1]], 500, 2.0, "grr", 1.0, rng()), "tau"),
    ],
)
def test_bad_input_is_refused(call, words):
    with pytest.raises(InvalidInput, match=words):
        call()
