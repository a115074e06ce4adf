"""Every name of a mechanism, protocol, estimator, search or metric that a command may print, and words: what they are.

The entries are data, in the ``glossary.toml`` beside whatever they are about; the documentation's page is made from
them. In formulas ``c = e^eps``, inputs x are on [0, 1] unless another domain is said, k is the number of items, and log
is natural.

>>> entry("oue").title
'optimised unary encoding'
>>> entry("T-SW").citation
'Refined mechanism design, chapter 5, section 5.6'
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from pathlib import Path

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen

__all__ = ["ENTRIES", "KINDS", "Entry", "entry", "of_kind"]

NONE = "-"
"""What an entry says where there is nothing to say."""


@frozen
class Entry:
    """A name as outputs print it (in lower case), what it is, its law in a line, who wrote it, what it is good for.

    ``also`` are other spellings in outputs. Where nobody's paper is its source the citation says so.
    """

    name: str
    kind: str
    title: str
    what: str
    formula: str = NONE
    citation: str = NONE
    good_for: str = NONE
    also: tuple[str, ...] = ()


METRIC = "metrics of frequencies"
KINDS = (
    "numbers on an interval",
    "angles on a circle",
    "finite values",
    "frequencies, one report a user",
    "frequencies, many reports a user",
    "post-processing of frequencies",
    "estimators of frequencies",
    "means, end to end",
    "designs of this package",
    "paths of locations",
    "searches for an epsilon",
    "names only the classifier command has",
    "an epsilon for each pair: places, policies",
    METRIC,
    "words",
)
"""What the entries are for, in the order of the page."""


def _read() -> Iterator[Entry]:
    """The entries of all files; what stands under ``every`` is said once for all of a kind."""
    for path in sorted(Path(__file__).parent.rglob("glossary.toml")):
        said = tomllib.loads(path.read_text(encoding="utf-8"))
        every = said.pop("every", {})
        for kind, found in said.items():
            for one in found:
                yield Entry(kind=kind, **{**every.get(kind, {}), **one, "also": tuple(one.get("also", ()))})


ENTRIES: tuple[Entry, ...] = tuple(sorted(_read(), key=lambda found: KINDS.index(found.kind)))
"""Every name, once."""


def entry(name: str) -> Entry:
    """The entry of that name or other spelling, in either case; a name that is unknown is told the nearest ones.

    >>> entry("optimised-unary")
    Traceback (most recent call last):
    ...
    mechdesign.errors.InvalidInput: name must be a name of the glossary (got 'optimised-unary'); ...
    """
    if not isinstance(name, str):
        raise InvalidInput("name", name, "be a name of the glossary")
    key = name.strip().lower()
    for spelling in (key, key.partition(":")[0]):  # top:5 is a top
        for found in ENTRIES:
            if spelling in (found.name, *found.also):
                return found
    near = _nearest(key)
    step = f"did you mean {', '.join(near)}?" if near else "`mechdesign glossary` lists them all"
    raise InvalidInput("name", name, "be a name of the glossary", step)


def _nearest(key: str) -> list[str]:
    """Names whose spelling, or whose title, is near."""
    called = {spelling: found.name for found in ENTRIES for spelling in (found.title.lower(), *found.also, found.name)}
    near = get_close_matches(key, called, n=_MOST_NEAR, cutoff=0.6)
    within = [spelling for spelling in called if len(key) >= _LEAST_WITHIN and key in spelling]
    return list(dict.fromkeys(called[spelling] for spelling in (*near, *within)))[:_MOST_NEAR]


_MOST_NEAR, _LEAST_WITHIN = 5, 3


def of_kind(kind: str) -> tuple[Entry, ...]:
    """The entries of a kind, in their order.

    >>> [found.name for found in of_kind("angles on a circle")]
    ['purkayastha']
    """
    return tuple(found for found in ENTRIES if found.kind == kind)
