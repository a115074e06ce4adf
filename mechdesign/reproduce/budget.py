"""Optimus and CAPRI: how small epsilon may be."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from mechdesign.budget import Capacity, Constraint, Question, Task, outlook, run
from mechdesign.budget.populations import emoji_like, msnbc_like
from mechdesign.collect import metrics
from mechdesign.reproduce.claim import AT_LEAST, AT_MOST, Claim, Item, Value
from mechdesign.values.declare import Counts

PAPER = "Budget selection (Optimus, CAPRI)"

Floats = NDArray[np.float64]

_SEARCHES = ("bs", "rbs", "dbs", "mpass", "bayes")
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


def _change(coefficient: Callable[[Floats, Floats], float]) -> float:
    """How far the coefficient moves if the items are written down in reverse."""
    true, seen = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.4, 0.1, 0.2, 0.3])
    return abs(coefficient(true, seen) - coefficient(true[::-1], seen[::-1]))


def _kendall_all_pairs(true: Floats, seen: Floats) -> float:
    """The printed coefficient: the pairs of two different items in V x V, concordant if both say > or both say <=."""
    agreed = [(true[v] > true[w]) == (seen[v] > seen[w]) for v, w in itertools.permutations(range(true.size), 2)]
    return 2 * float(np.mean(agreed)) - 1


def _searches(counts: Counts, protocols: Sequence[str], thresholds: Sequence[float]) -> list[Value]:
    """The five searches with their own settings, a question a protocol and threshold of tau-b: widest spread, and
    the least and the largest eps any of them finds."""
    wishes = [Constraint("kendall", threshold, 0.5) for threshold in thresholds]
    questions = [Question(name, counts, wish) for name in protocols for wish in wishes]
    answers = run([Task(asked, name) for asked in questions for name in _SEARCHES])
    found = np.array([answer.epsilon for answer in answers]).reshape(len(questions), len(_SEARCHES))
    return [float(np.ptp(found, axis=1).max()), float(found.min()), float(found.max())]


CLAIMS = (
    Claim(
        "optimus.figure-5.1",
        PAPER,
        "section 5.1.2, figure 5.1",
        "any two of the five searches differ by at most 0.1, and on MSNBC eps is typically below 0.4 (four "
        "protocols, tau from 0.1 to 0.5; here a Zipf law of MSNBC's size, where every eps is so small that the "
        "first says little)",
        (Item("largest difference", "0.1", relation=AT_MOST), Item("largest eps", "0.4", relation=AT_MOST)),
        lambda: _searches(msnbc_like(), ("grr", "sue", "oue", "blh"), (0.1, 0.3, 0.5))[::2],
        slow=True,
    ),
    Claim(
        "optimus.figure-5.2",
        PAPER,
        "section 5.1.2, figure 5.2",
        "any two of the five searches differ by at most 0.1, and on the emoji eps is much larger, such as 2, 4 or 6 "
        "(tau 0.3 and 0.7; here a Zipf law of 200 items and 50,000 users)",
        (Item("largest difference", "0.1", relation=AT_MOST), Item("least eps", "1", relation=AT_LEAST)),
        lambda: _searches(emoji_like(), ("grr", "sue", "oue", "olh"), (0.3, 0.7))[:2],
        slow=True,
    ),
    Claim(
        "capri.figure-4.1a",
        PAPER,
        "figure 4.1a",
        "Pr[FN] for N = 1000 (capacity, total, eps): Chebyshev's bound, and what CAPRI finds by simulation",
        (
            Item("Chebyshev (500, 600, .8)", "0.148"),
            Item("CAPRI (500, 600, .8)", "0.012", "0.00523595"),
            Item("Chebyshev (400, 500, .4)", "0.588", "0.61673"),
            Item("CAPRI (400, 500, .4)", "0.108", "0.10417455"),
        ),
        lambda: _alarms(_MISSED),
        erratum=16,
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
    ),
)
