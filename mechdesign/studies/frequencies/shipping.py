"""Frequency protocols as tables: the law in whole numbers that clients run, and the protocol that reads their reports.

A protocol treats all items alike, so its table is two counts and not a matrix. Its p and q are fractions, next to those
of the protocol in doubles: `as_protocol` is the protocol with the numbers of the table.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols.catalogue import entry, protocol
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hadamard import HadamardResponse
from mechdesign.studies.frequencies.protocols.hashing import LocalHashing
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.subset import SubsetSelection
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.tables.kinds import (
    Encoding,
    HadamardLaw,
    HashingLaw,
    ItemsLaw,
    ResponseLaw,
    SubsetLaw,
    UnaryLaw,
)
from mechdesign.tables.kinds.items import Rows, numbers_of, unpacked
from mechdesign.tables.labels import Labels
from mechdesign.tables.making import make_table
from mechdesign.tables.reports.payload import rows_of_reports
from mechdesign.tables.table import Table

SHIPPED = ("grr", "sue", "oue", "blh", "olh", "ss", "hr", "cms")
"""The protocols that have tables, by the names of `protocol`, and ``cms``, the count-mean sketch."""

SKETCH = "cms"
FUNCTIONS, BUCKETS = 1024, 1024


def encoding(name: str, epsilon: float, size: int, /, **options: Any) -> Encoding:
    """The protocol of that name as what `make_table` takes; options are those of `protocol`.

    ``cms`` takes functions and buckets: Apple's count-mean sketch, whose reports do not grow with the items.

    >>> encoding("ss", 1.0, 100).options
    {'subset': 27}
    >>> make_table(encoding("oue", 1.0, 4096)).law.report_bytes
    512
    """
    key = name.strip().lower() if isinstance(name, str) else name
    if key == SKETCH:
        known = {"functions": FUNCTIONS, "buckets": BUCKETS}
        for option in options:
            if option not in known:
                raise InvalidInput("option", option, f"be an option of {SKETCH}: {', '.join(known)}")
        return Encoding("CMS", epsilon, size, "sketch", known | options)
    if entry(name).key not in SHIPPED:
        rule = f"be one of {', '.join(SHIPPED)} to become a table"
        raise InvalidInput("protocol", name, rule, "memories and noisy histograms have no table")
    return encoding_of(protocol(name, epsilon, size, **options))


def encoding_of(law: FrequencyProtocol) -> Encoding:
    """A protocol as what `make_table` takes."""
    about = law.name, law.epsilon, law.size
    match law:
        case Grr():
            return Encoding(*about, "response")
        case Unary():
            form = "symmetric" if abs(law.p + law.q - 1) < abs(law.p - 0.5) else "optimised"
            return Encoding(*about, "unary", {"form": form})
        case LocalHashing(hash="xxh64"):
            return Encoding(*about, "hashing", {"hashes": law.hashes})
        case SubsetSelection():
            return Encoding(*about, "subset", {"subset": law.subset})
        case HadamardResponse():
            return Encoding(*about, "hadamard", {"blocks": law.blocks})
    raise InvalidInput("protocol", law.name, f"be one of {', '.join(SHIPPED)} to become a table")


def protocol_table(
    name: str,
    epsilon: float,
    items: int | Sequence[str],
    /,
    bits: int = 32,
    *,
    provenance: Mapping[str, str] | None = None,
    **options: Any,
) -> Table:
    """The table of a protocol for so many items, or for items with these labels.

    >>> table = protocol_table("grr", 1.0, ["no", "maybe", "yes"])
    >>> table.kind, table.labels.inputs, len(table.content) < 1000
    ('response', ('no', 'maybe', 'yes'), True)
    """
    labels = None if isinstance(items, int) else Labels(tuple(items))
    size = items if isinstance(items, int) else len(items)
    return make_table(encoding(name, epsilon, size, **options), bits, provenance=provenance, labels=labels)


def as_protocol(table: Table) -> FrequencyProtocol:
    """The protocol whose p and q are those of a table, to the nearest doubles: it reads reports that `decoded` gave.

    >>> law = as_protocol(protocol_table("oue", 1.0, 10))
    >>> law.name, round(law.privacy_loss(), 6)
    ('OUE', 1.0)
    """
    law, chances = table.law, table.chances
    if chances is None or not isinstance(law, ItemsLaw):
        raise InvalidInput("table", f"{table.kind} table", "be of a frequency protocol", "take designed(table)")
    about = table.name, table.privacy_loss, law.count
    p, q, miss = float(chances.p), float(chances.q), float(1 - chances.p)
    match law:
        case ResponseLaw():
            return Grr(*about, p, q)
        case UnaryLaw():
            return Unary(*about, p, q, miss)
        case HashingLaw():
            return LocalHashing(*about, law.hashes, p, miss)
        case SubsetLaw():
            return SubsetSelection(*about, law.subset)
        case HadamardLaw():
            return HadamardResponse(*about, law.blocks)
    step = "take estimate of mechdesign.tables"
    raise InvalidInput("table", f"{table.kind} table", "be of a protocol that simulations know", step)


def decoded(table: Table, reports: Any) -> NDArray[Any]:
    """Reports of a table as the array that the ``report`` of its `as_protocol` gives."""
    if not isinstance(table.law, ItemsLaw):
        raise InvalidInput("table", f"{table.kind} table", "be of a frequency protocol")
    rows: Rows = rows_of_reports(table.law, reports)
    match law := table.law:
        case UnaryLaw():
            return unpacked(rows, law.count).astype(np.bool_)
        case HashingLaw():
            return np.stack([numbers_of(rows[:, :8]), numbers_of(rows[:, 8:])], axis=1)
        case SubsetLaw():
            return np.nonzero(unpacked(rows, law.count))[1].reshape(len(rows), law.subset)
    return numbers_of(rows).astype(np.int64)
