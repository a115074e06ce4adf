"""Capacity questions by the searches of Optimus: the same events, other searches."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets import Capacity, Memory, Requirement, Totals, search_alarms
from mechdesign.studies.budgets.alarms import Alarms
from mechdesign.studies.budgets.capri_exact import Exceedance, budget

HALL = Capacity([0, 1], [400, 600], 500)  # the paper's first case: 600 of 1000, capacity 500


def memory(seed: int = 0) -> Memory[Totals]:
    return Memory(Totals("grr", HALL, seed))


def test_events_and_right_alarms_are_counted_as_the_exact_law_has_them() -> None:
    """Binomial test at five deviations: Pr[FN] = 0.0052 at eps 0.8, n = 4000; seed 0, false positives below 1e-6."""
    exact = 1 - Exceedance(HALL, "grr")(0.8).value
    for event in ("fn", "tp"):
        seen = Alarms(memory(), Requirement(event, 0.05)).tally(0.8, 1, 4000)
        wanted = exact if event == "fn" else 1 - exact
        assert abs(seen.mean - wanted) < 5 * (exact / 4000) ** 0.5
        assert seen.share == pytest.approx(1 - exact, abs=5 * (exact / 4000) ** 0.5)


@pytest.mark.parametrize(
    ("method", "options"),
    [
        ("rbs", {"runs": 2000}),
        ("dbs", {"least_runs": 500, "most_runs": 2000}),
        ("mpass", {"runs": 500, "passes": 3}),
        ("bayes", {"runs": 500, "first_points": 10, "rounds": 8}),
    ],
)
def test_every_search_ends_near_the_exact_budget(method: str, options: dict[str, int]) -> None:
    """Seed 0; Pr[FN] around tau = .2 moves by .05 for .03 of eps, .05 is 2.8 deviations of the fewest runs."""
    if method == "bayes":
        pytest.importorskip("sklearn", reason="an optional dependency")
    wish = Requirement("fn", 0.2)
    found = search_alarms(memory(), wish, method, least=0.05, most=2.0, **options)
    assert found.epsilon == pytest.approx(budget(HALL, wish, "grr").epsilon, abs=0.07)
    assert all(test.holds == (test.probability < 0.2) for test in found.tested)


def test_searches_share_what_a_memory_holds() -> None:
    first = memory()
    found = search_alarms(first, Requirement("fn", 0.2), "rbs", runs=200)
    again = Memory(first.question, first.entries)
    assert search_alarms(again, Requirement("fn", 0.2), "rbs", runs=200) == found
    assert again.simulated == 0


def test_a_requirement_out_of_reach_names_the_best_probability() -> None:
    with pytest.raises(InvalidInput, match=r"requirement must be met by some eps .* best reached") as caught:
        search_alarms(memory(), Requirement("fn", 1e-6), "rbs", runs=200, most=0.5)
    assert caught.value.field == "requirement"


@pytest.mark.parametrize(
    ("method", "event", "words"),
    [("bs", "fn", "method"), ("rbs", "fp", "one that can happen")],
)
def test_what_cannot_be_searched_is_refused(method: str, event: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        search_alarms(memory(), Requirement(event, 0.2), method)


def test_the_most_runs_at_one_epsilon_are_told() -> None:
    found = search_alarms(memory(), Requirement("fn", 0.2), "dbs", least_runs=100, most_runs=300)
    assert found.runs in np.arange(100, 301)
