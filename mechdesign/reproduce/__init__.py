"""The papers' printed numbers beside ours: every claim is computed, and its verdict follows from the numbers."""

from __future__ import annotations

import difflib
from collections.abc import Sequence

from mechdesign.errors import InvalidInput
from mechdesign.reproduce import aaa, budget, certified, classifier, frequency, jrr, ogpm, toolkit, tracs
from mechdesign.reproduce.claim import BEYOND, CORRECTED, FAILS, HOLDS, REPLACED, VERDICTS, Claim, Item, Outcome, judge
from mechdesign.reproduce.left_out import LEFT_OUT, LeftOut

CLAIMS: tuple[Claim, ...] = (
    *ogpm.CLAIMS,
    *jrr.CLAIMS,
    *aaa.CLAIMS,
    *budget.CLAIMS,
    *frequency.CLAIMS,
    *toolkit.CLAIMS,
    *certified.CLAIMS,
    *tracs.CLAIMS,
    *classifier.CLAIMS,
)

__all__ = [
    "BEYOND",
    "CLAIMS",
    "CORRECTED",
    "FAILS",
    "HOLDS",
    "LEFT_OUT",
    "REPLACED",
    "VERDICTS",
    "Claim",
    "Item",
    "LeftOut",
    "Outcome",
    "judge",
    "named",
]


def named(names: Sequence[str]) -> list[Claim]:
    """Claims by name, or all whose names begin with one such as ``ogpm``; in the order of `CLAIMS`, each once.

    >>> [claim.key for claim in named(["certified", "ogpm.example-8"])]
    ['ogpm.example-8', 'certified.absolute', 'certified.squared', 'certified.unbiased']
    """
    wanted: set[str] = set()
    for name in (text.strip().lower() for text in names):
        found = [claim.key for claim in CLAIMS if name in (claim.key, claim.key.partition(".")[0])]
        if not found:
            known = [claim.key for claim in CLAIMS]
            families = sorted({key.partition(".")[0] for key in known})
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.6) or families
            raise InvalidInput("claim", name, "be one of those listed", f"nearest: {', '.join(near)}; see --list")
        wanted.update(found)
    return [claim for claim in CLAIMS if claim.key in wanted]
