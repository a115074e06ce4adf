"""The law of a table as a term of `theories/Tables.v`, read from the entries of its file and from nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from mechdesign.errors import InvalidInput
from mechdesign.tables.formal.terms import record, term, whole
from mechdesign.tables.table import Table

Law = Mapping[str, Any]
_COINS = "own_bit other_bit"


def _words(name: str, *numbers: str) -> Callable[[Law, int], str]:
    """The name of a kind, and entries of the law after the number of items."""

    def written(law: Law, count: int) -> str:
        entries = (law[entry] for entry in numbers)
        flat = [n for value in entries for n in (value if isinstance(value, list) else [value])]
        return " ".join([name, *map(whole, [count, *flat])])

    return written


def _window(rows_in: str, more: int) -> Callable[[Law, int], str]:
    def written(law: Law, count: int) -> str:
        lists = (term(law[name]) for name in ("base", "caps", "starts"))
        return f"Window {len(law['outputs'])} {len(law[rows_in]) + more}\n  " + "\n  ".join(lists)

    return written


_TERMS: Mapping[str, Callable[[Law, int], str]] = {
    "finite": lambda law, count: f"Finite {len(law['outputs'])}\n  {term(law['rows'])}",
    "window": _window("thresholds", 1),
    "unbiased": _window("means", 0),
    "pieces": lambda law, count: " ".join(["Pieces", *(whole(law[name]) for name in ("cells", "inside", "weight"))]),
    "additive": lambda law, count: f"Additive {term(law['weights'])} {whole(law['tail'])}",
    "response": _words("Response", "own", "other"),
    "unary": _words("Unary", *_COINS.split()),
    "hashing": _words("Hashing", "hashes", "own", "other"),
    "subset": _words("Subset", "subset", "own", "other"),
    "hadamard": _words("Hadamard", "blocks", "own", "other"),
    "sketch": _words("Sketch", "functions", "buckets", *_COINS.split()),
}
KINDS = tuple(_TERMS)
_BETWEEN_ROWS = ("unbiased", "additive")
"""Kinds whose inputs take one of several rows at random."""


def definition(table: Table) -> str:
    """The table as a value of Coq."""
    document = table.document
    if table.kind not in _TERMS:
        raise InvalidInput("kind of table", table.kind, f"be one that the theories know: {', '.join(KINDS)}")
    epsilon = Fraction(document["epsilon"])
    law = _TERMS[table.kind](document["law"], document["domain"].get("count", 0))
    fields = {
        "num": whole(epsilon.numerator),
        "den": whole(epsilon.denominator),
        "bits": whole(document["bits"]),
        "cap": document["cap"],
        "the_law": law,
    }
    return f"Definition table : Tables.table := {record(fields)}."


def inputs(table: Table) -> int:
    """How many rows a report may be drawn from."""
    law, kind = table.document["law"], table.kind
    if kind in ("window", "unbiased"):
        return len(law["starts"])
    sizes = {
        "finite": len(law.get("rows", ())),
        "pieces": law.get("cells"),
        "additive": len(law.get("weights", ())) + 1,
    }
    return int(sizes.get(kind) or table.document["domain"]["count"])


def is_between_rows(table: Table) -> bool:
    return table.kind in _BETWEEN_ROWS


def stated_limits(table: Table) -> str | None:
    """The limits of pairs of inputs as values of Coq, where there are any."""
    pairs = table.document["law"].get("pairs")
    if pairs is None:
        return None
    epsilons = term([Fraction(eps).as_integer_ratio() for eps in pairs["epsilons"]])
    said = f"Definition epsilons : list (Z * Z) := {epsilons}.\n"
    return f"{said}Definition places : list (list Z) := {term(pairs['of'])}."
