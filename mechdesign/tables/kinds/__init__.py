"""What tables are, by kind: all that a reader asks of a law stands in the module of its kind.

A new kind is a module here and its name below, a check in `mechdesign.tables.checker` and `privacy_checker`, and its
lines in the templates of samplers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mechdesign.tables.document import decimal, decimals
from mechdesign.tables.kinds.additive import AdditiveLaw
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.finite import FiniteLaw
from mechdesign.tables.kinds.hadamard import HadamardLaw
from mechdesign.tables.kinds.hashing import HashingLaw
from mechdesign.tables.kinds.items import Encoding, ItemsLaw, items
from mechdesign.tables.kinds.law import (
    Domain,
    Law,
    Listed,
    Masses,
    Number,
    Order,
    Reading,
    Report,
    Rounded,
    Rule,
    Spread,
)
from mechdesign.tables.kinds.pieces import VECTOR_UNIT, PiecesLaw
from mechdesign.tables.kinds.response import ResponseLaw
from mechdesign.tables.kinds.sketch import SketchLaw
from mechdesign.tables.kinds.subset import SubsetLaw
from mechdesign.tables.kinds.unary import UnaryLaw
from mechdesign.tables.kinds.unbiased import UnbiasedLaw
from mechdesign.tables.kinds.window import WindowLaw
from mechdesign.words.domains import Circle, Finite, Interval

__all__ = [
    "KINDS",
    "ON_ITEMS",
    "VECTOR_UNIT",
    "AdditiveLaw",
    "Case",
    "Domain",
    "Encoding",
    "FiniteLaw",
    "HadamardLaw",
    "HashingLaw",
    "ItemsLaw",
    "Law",
    "Listed",
    "Masses",
    "Number",
    "Order",
    "PiecesLaw",
    "Reading",
    "Report",
    "ResponseLaw",
    "Rounded",
    "Rule",
    "SketchLaw",
    "Spread",
    "SubsetLaw",
    "UnaryLaw",
    "UnbiasedLaw",
    "WindowLaw",
    "domain_of",
    "domain_written",
    "kind_of",
    "law_of",
]

ON_ITEMS: tuple[type[ItemsLaw], ...] = (ResponseLaw, UnaryLaw, HashingLaw, SubsetLaw, HadamardLaw, SketchLaw)
_LAWS: tuple[type[Law], ...] = (
    WindowLaw,
    UnbiasedLaw,
    FiniteLaw,
    PiecesLaw,
    AdditiveLaw,
    *ON_ITEMS,
)
KINDS: dict[str, type[Law]] = {law.kind: law for law in _LAWS}


def kind_of(mechanism: object) -> type[Law] | None:
    """The kind of table that a mechanism becomes, if any."""
    if isinstance(mechanism, Encoding):
        return next((law for law in ON_ITEMS if law.kind == mechanism.kind), None)
    return next((law for law in KINDS.values() if isinstance(mechanism, law.made_from)), None)


def law_of(document: Mapping[str, Any]) -> Law:
    """The law of a table's document, which has passed its check."""
    return KINDS[document["kind"]].read(document["law"], domain_of(document["domain"]), document["bits"])


def domain_of(said: Mapping[str, Any]) -> Domain:
    """The domain that a table file holds."""
    if said["kind"] == "items":
        return items(said["count"])
    if said["kind"] == "interval":
        return Interval(float(said["lower"]), float(said["upper"]))
    if said["kind"] == "circle":
        return Circle(float(said["period"]))
    return Finite(tuple(float(point) for point in said["points"]))


def domain_written(law: Law) -> dict[str, Any]:
    """What a table file holds under ``domain``."""
    if isinstance(law, ItemsLaw):
        return law.domain_said
    match domain := law.domain:
        case Interval():
            return {"kind": "interval", "lower": decimal(domain.lower), "upper": decimal(domain.upper)}
        case Circle():
            return {"kind": "circle", "period": decimal(domain.period)}
    return {"kind": "finite", "points": decimals(domain.points)}
