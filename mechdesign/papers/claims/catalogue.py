"""Every claim of the papers, and how claims are found by name."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path

from mechdesign.errors import InvalidInput
from mechdesign.papers.claims import (
    aaa,
    budget,
    capri,
    certified,
    classifier,
    frequency,
    gains,
    jrr,
    ogpm,
    places,
    searches,
    toolkit,
    tracs,
)
from mechdesign.papers.claims.claim import Claim

CLAIMS: tuple[Claim, ...] = (
    *ogpm.CLAIMS,
    *jrr.CLAIMS,
    *aaa.CLAIMS,
    *budget.CLAIMS,
    *searches.CLAIMS,
    *capri.CLAIMS,
    *frequency.CLAIMS,
    *gains.CLAIMS,
    *toolkit.CLAIMS,
    *certified.CLAIMS,
    *tracs.CLAIMS,
    *places.CLAIMS,
    *classifier.CLAIMS,
)


def with_data(folder: Path) -> tuple[Claim, ...]:
    """`CLAIMS`, and those on the papers' own data that a folder holds; these take the place of stand-ins."""
    from mechdesign.papers.claims.on_data import claims_on

    found = claims_on(folder)
    keys = {claim.key for claim in found}
    return (*(claim for claim in CLAIMS if claim.key not in keys), *found)


def named(names: Sequence[str], claims: Sequence[Claim] = CLAIMS) -> list[Claim]:
    """Claims by name, or all whose names begin with one such as ``ogpm``; in the order of `CLAIMS`, each once.

    >>> [claim.key for claim in named(["certified.absolute", "ogpm.example-8"])]
    ['ogpm.example-8', 'certified.absolute']
    """
    wanted: set[str] = set()
    for name in (text.strip().lower() for text in names):
        found = [claim.key for claim in claims if name in (claim.key, claim.key.partition(".")[0])]
        if not found:
            known = [claim.key for claim in claims]
            families = sorted({key.partition(".")[0] for key in known})
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.6) or families
            rule = "be one of those listed, or with --data FOLDER one on the papers' own data"
            raise InvalidInput("claim", name, rule, f"nearest: {', '.join(near)}; see --list")
        wanted.update(found)
    return [claim for claim in claims if claim.key in wanted]
