"""Optimus and CAPRI: how small epsilon may be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from mechdesign.papers.claims.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.papers.claims.drawing import Lines, curves
from mechdesign.papers.claims.shared import number_of, picture_of
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.capri_exact import budget
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.outlook import outlook
from mechdesign.studies.budgets.populations import emoji_like, msnbc_like, water_like, water_sample
from mechdesign.studies.budgets.runner import Task, run
from mechdesign.studies.budgets.searches import Selected
from mechdesign.studies.budgets.simulation import Question
from mechdesign.studies.frequencies import metrics
from mechdesign.values.declare import Counts

PAPER = "Budget selection (Optimus, CAPRI)"

Floats = NDArray[np.float64]

_TRIED = {"GRR": "grr", "RAPPOR": "sue", "OUE": "oue"}
"""The protocols of CAPRI by their names there."""

SEARCHES = ("bs", "rbs", "dbs", "mpass", "bayes")
_MISSED = ((500, 600, 0.8), (400, 500, 0.4))
_SAFE = ((500, 100, 0.4), (500, 100, 0.1), (500, 200, 0.1))
"""Capacity, true total and epsilon; in the safe cases the total is below the capacity and nothing can be missed."""


def _alarms(cases: Sequence[tuple[float, int, float]]) -> list[Value]:
    """Chebyshev's bound and the exact probability of a false negative, case by case."""
    found: list[Value] = []
    for cap, total, epsilon in cases:
        seen = outlook(Capacity([0, 1], [1000 - total, total], cap), "grr", epsilon)
        found += [seen.chebyshev, seen.probability["FN"]]
    return found


def _water(counts: Counts, cap: float) -> Capacity:
    return Capacity(np.arange(counts.size), counts, cap)


def _city() -> list[Value]:
    """The least eps at which a false alarm is no likelier than 1%, 30% and 40%, exactly."""
    capacity = _water(water_like(), 1_800_000)
    return [budget(capacity, Requirement("fp", most), "grr").epsilon for most in (0.01, 0.3, 0.4)]


def _city_lines() -> Lines:
    capacity, most = _water(water_like(), 1_800_000), [k / 50 for k in range(1, 21)]
    return {
        "exact": (most, [budget(capacity, Requirement("fp", share), "grr").epsilon for share in most]),
        "printed": ((0.01, 0.3, 0.4), (1.2, 0.4, 0.2)),
    }


def _least_budget(name: str, least: float) -> float:
    return budget(_water(water_sample(), 13_000), Requirement("tp", least), name).epsilon


def _best_protocols() -> list[Value]:
    """The eps of the protocol that is said to be best, over the least of the other two."""
    at_60, at_80 = ({name: _least_budget(name, least) for name in _TRIED.values()} for least in (0.6, 0.8))
    return [at_60["oue"] / min(at_60["grr"], at_60["sue"]), at_80["grr"] / min(at_80["oue"], at_80["sue"])]


def _protocol_lines() -> Lines:
    wished = [0.55 + 0.05 * k for k in range(9)]
    return {shown: (wished, [_least_budget(name, least) for least in wished]) for shown, name in _TRIED.items()}


def _change(coefficient: Callable[[Floats, Floats], float]) -> float:
    """How far the coefficient moves if the items are written down in reverse."""
    true, seen = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.4, 0.1, 0.2, 0.3])
    return abs(coefficient(true, seen) - coefficient(true[::-1], seen[::-1]))


def _kendall_all_pairs(true: Floats, seen: Floats) -> float:
    """The printed coefficient: the pairs of two different items in V x V, concordant if both say > or both say <=."""
    agreed = [(true[v] > true[w]) == (seen[v] > seen[w]) for v, w in itertools.permutations(range(true.size), 2)]
    return 2 * float(np.mean(agreed)) - 1


def searched(counts: Counts, protocols: Sequence[str], thresholds: Sequence[float]) -> list[list[Selected]]:
    """What the five searches with their own settings select, a row a protocol and threshold of tau-b."""
    return _searched(tuple(counts.tolist()), tuple(protocols), tuple(thresholds))


@cache
def _searched(
    counts: tuple[int, ...], protocols: tuple[str, ...], thresholds: tuple[float, ...]
) -> list[list[Selected]]:
    wishes = [Constraint("kendall", threshold, 0.5) for threshold in thresholds]
    questions = [Question(name, np.array(counts), wish) for name in protocols for wish in wishes]
    answers = [answer.result for answer in run([Task(asked, name) for asked in questions for name in SEARCHES])]
    found = [answer for answer in answers if isinstance(answer, Selected)]
    assert len(found) == len(answers)
    return [found[k : k + len(SEARCHES)] for k in range(0, len(found), len(SEARCHES))]


def _searches(counts: Counts, protocols: Sequence[str], thresholds: Sequence[float]) -> list[Value]:
    """The widest spread of the five on one question, and the least and the largest eps any of them finds."""
    found = np.array([[answer.epsilon for answer in row] for row in searched(counts, protocols, thresholds)])
    return [float(np.ptp(found, axis=1).max()), float(found.min()), float(found.max())]


def figure_5_1(counts: Counts) -> list[Value]:
    """The widest spread between two searches, and the largest eps any of them finds."""
    return _searches(counts, ("grr", "sue", "oue", "blh"), (0.1, 0.3, 0.5))[::2]


CLAIMS = (
    Claim(
        "optimus.figure-5.1",
        PAPER,
        "section 5.1.2, figure 5.1",
        "any two of the five searches differ by at most 0.1, and on MSNBC eps is typically below 0.4 (four "
        "protocols, tau from 0.1 to 0.5)",
        (Item("largest difference", "0.1", relation=AT_MOST), Item("largest eps", "0.4", relation=AT_MOST)),
        lambda: figure_5_1(msnbc_like()),
        slow=True,
        stand_in="a Zipf law of MSNBC's size, where every eps is so small that the first number says little",
    ),
    Claim(
        "optimus.figure-5.2",
        PAPER,
        "section 5.1.2, figure 5.2",
        "any two of the five searches differ by at most 0.1, and on the emoji eps is much larger, such as 2, 4 or 6 "
        "(tau 0.3 and 0.7)",
        (Item("largest difference", "0.1", relation=AT_MOST), Item("least eps", "1", relation=AT_LEAST)),
        lambda: _searches(emoji_like(), ("grr", "sue", "oue", "olh"), (0.3, 0.7))[:2],
        slow=True,
        stand_in="a Zipf law of 200 items and 50,000 users",
    ),
    Claim(
        "capri.figure-4.1a",
        PAPER,
        "figure 4.1a",
        "Chebyshev's bound on Pr[FN] for N = 1000 (capacity, total, eps), by equation 4.2.3",
        (
            Item("Chebyshev (500, 600, .8)", "0.148"),
            Item("Chebyshev (400, 500, .4)", "0.588", "0.61673"),
        ),
        lambda: _alarms(_MISSED)[::2],
        erratum=16,
        picture=picture_of("capri_missed"),
    ),
    Claim(
        "capri.figure-4.1a-simulated",
        PAPER,
        "figure 4.1a",
        "what CAPRI finds by simulation for the same Pr[FN] (the figure's number of runs is not printed: both are "
        "shares of 500 runs, the fewest that figure 5.8 has; ours are exact)",
        (
            Item("CAPRI (500, 600, .8)", "0.012", runs=500),
            Item("CAPRI (400, 500, .4)", "0.108", runs=500),
        ),
        lambda: _alarms(_MISSED)[1::2],
        picture=picture_of("capri_missed"),
    ),
    Claim(
        "capri.figure-4.1a-safe",
        PAPER,
        "figure 4.1a",
        "the same where the total is below the capacity: nothing can be missed, and Chebyshev's bound is not 0",
        (
            Item("Chebyshev (500, 100, .4)", "0.037", "0.03855"),
            Item("CAPRI (500, 100, .4)", "0.0000"),
            Item("Chebyshev (500, 100, .1)", "0.975", "0.62448"),
            Item("CAPRI (500, 100, .1)", "0.0000"),
            Item("Chebyshev (500, 200, .1)", "1.000"),
            Item("CAPRI (500, 200, .1)", "0.0000"),
        ),
        lambda: _alarms(_SAFE),
        erratum=16,
    ),
    Claim(
        "capri.figure-5.7b",
        PAPER,
        "section 5.2.2, figure 5.7b",
        "water meters, capacity 1.8 million: eps 1.2 keeps false alarms below 1%, 0.4 below 30% and 0.2 below 40% "
        "(read off a plot of tenths: two of them apart agree)",
        (Item("eps for .01", "1.2", units=2), Item("eps for .3", "0.4", units=2), Item("eps for .4", "0.2", units=2)),
        _city,
        stand_in="98,511 households that use 1,598,489 in all, as printed, with an outline made here; any other "
        "gives 1.03 to 1.07 for the first",
        picture=curves(
            "How much eps a false alarm allows, capacity 1.8 million", "largest chance", "least eps", _city_lines
        ),
    ),
    Claim(
        "capri.figure-5.9",
        PAPER,
        "section 5.2.2.2, figure 5.9",
        "total 15,620, capacity 13,000: OUE needs the least eps for Pr[TP] of 0.6, GRR for 0.8 (eps over the least "
        "of the two others)",
        (Item("OUE's at .6", "1", relation=AT_MOST), Item("GRR's at .8", "1", relation=AT_MOST)),
        _best_protocols,
        stand_in="985 households, which is what that total is a sample of, with an outline made here",
        picture=curves("Least eps of three protocols, capacity 13,000", "Pr[TP] asked for", "eps", _protocol_lines),
    ),
    Claim(
        "capri.chebyshev-budget",
        PAPER,
        "section 4.2",
        "the least eps at which an alarm (600 of 1,000, capacity 500) is missed 1% of the time, beside that of "
        "Chebyshev's bound",
        (Item("eps", "2.478"),),
        lambda: [number_of("capri_budget")],
        beyond="the page says that the bound selects unnecessarily high budgets, and prints none",
        picture=picture_of("capri_budget"),
    ),
    Claim(
        "optimus.kendall",
        PAPER,
        "section 3.3, Kendall-tau coefficient",
        "with the pairs of V x V the coefficient is the same if the items are written down in reverse",
        (Item("change, pairs of V x V", "0.0"), Item("change, tau-b", "0.0")),
        lambda: [_change(_kendall_all_pairs), _change(metrics.kendall)],
    ),
    Claim(
        "optimus.kendall-once",
        PAPER,
        "section 3.3, Kendall-tau coefficient",
        "the same with every pair taken once: a tie counts as concordant in one order only",
        (Item("change, pairs once", "0.0", "1.0"),),
        lambda: [_change(metrics.kendall_optimus)],
        erratum=11,
        beyond="the page counts pairs of V x V, where each stands in both orders",
        picture=picture_of("kendall_ties"),
    ),
)
