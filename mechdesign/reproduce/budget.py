"""Optimus and CAPRI: how small epsilon may be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechdesign.budget import Capacity, Constraint, Question, Task, outlook, run
from mechdesign.budget.populations import msnbc_like
from mechdesign.collect import metrics
from mechdesign.reproduce.claim import AT_MOST, Claim, Item, Value

PAPER = "Budget selection (Optimus, CAPRI)"

_SEARCHES = ("bs", "rbs", "dbs", "mpass")
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


def _kendall() -> list[Value]:
    """How far the coefficient moves if the items are written down in reverse."""
    true, seen = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.4, 0.1, 0.2, 0.3])
    return [
        abs(coefficient(true, seen) - coefficient(true[::-1], seen[::-1]))
        for coefficient in (metrics.kendall_optimus, metrics.kendall)
    ]


def _searches() -> list[Value]:
    """Four searches, two protocols, three thresholds of tau-b, a Zipf law of MSNBC's size: spread and largest eps."""
    wishes = [Constraint("kendall", threshold, 0.5) for threshold in (0.1, 0.3, 0.5)]
    questions = [Question(name, msnbc_like(), wish) for name in ("grr", "oue") for wish in wishes]
    options: dict[str, dict[str, int]] = {name: {} if name == "dbs" else {"runs": 200} for name in _SEARCHES}
    answers = run([Task(asked, name, options=options[name]) for asked in questions for name in _SEARCHES])
    found = np.array([answer.epsilon for answer in answers]).reshape(len(questions), len(_SEARCHES))
    return [float(np.ptp(found, axis=1).max()), float(found.max())]


CLAIMS = (
    Claim(
        "optimus.figure-5.1",
        PAPER,
        "section 5.1.2, figure 5.1",
        "the searches differ by at most 0.1, and on MSNBC find eps below 0.4 (BS to MPass; a Zipf law of its size)",
        (Item("largest difference", "0.1", relation=AT_MOST), Item("largest eps", "0.4", relation=AT_MOST)),
        _searches,
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
            Item("Chebyshev (500, 100, .4)", "0.037"),
            Item("CAPRI (500, 100, .4)", "0.0000"),
            Item("Chebyshev (500, 100, .1)", "0.975"),
            Item("CAPRI (500, 100, .1)", "0.0000"),
            Item("Chebyshev (500, 200, .1)", "1.000"),
            Item("CAPRI (500, 200, .1)", "0.0000"),
        ),
        lambda: _alarms(_SAFE),
    ),
    Claim(
        "optimus.kendall",
        PAPER,
        "Kendall-tau coefficient",
        "the coefficient compares two rankings, whatever the order the items are written down in (reversed)",
        (Item("change, as printed", "0.0", "1.0"), Item("change, tau-b", "0.0")),
        _kendall,
        erratum=11,
    ),
)
