"""Vectors of envelopes: reports, last days and nonces, and the bytes that every runtime makes of them.

What an envelope is says `mechdesign.tables.reports.envelope`, whose bytes the vectors hold.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Literal

from mechdesign.tables.kinds import Listed
from mechdesign.tables.reports.envelope import NONCE, Envelope, Subject
from mechdesign.tables.reports.payload import Bytes, Index, payload_of
from mechdesign.tables.table import Table
from mechdesign.tables.vectors import Vector, digits

Form = Literal["labels", "listed", "double", "bytes"]
_EPOCH = date(1970, 1, 1)
_DAYS = (0, 1, 20000, (date.max - _EPOCH).days)
_MOST_REPORTS = 16


def envelope_head(subject: Subject) -> bytes:
    """How every envelope of a subject begins, before its last day."""
    return Envelope(subject, _EPOCH, bytes(NONCE), b"0").content[:8]


def envelope_size(table: Table) -> int:
    """How long the envelopes of a table's reports are."""
    return len(Envelope(Subject(table.sha256), _EPOCH, bytes(NONCE), bytes(payload_of(table).size)).content)


def form_of(table: Table) -> Form:
    """What samplers give: a label, a number that is listed, any double, or bytes."""
    payload = payload_of(table)
    if isinstance(payload, Bytes):
        return "bytes"
    if isinstance(payload, Index):
        return "listed" if table.labels.outputs is None else "labels"
    return "double"


def envelope_lines(table: Table, subject: Subject, cases: Sequence[Vector]) -> str:
    """The text file of vectors; reports are the first ones of these cases, with the ends of those that are listed.

    All but days are hexadecimal digits: reports that are bytes, labels in UTF-8, and the bits of doubles.
    """
    reports = _reports(table, cases)
    rows = [" ".join(row) for row in (*_made(table, subject, reports), *_refused(table, reports[0]))]
    head = [f"# envelopes of reports of table {table.sha256}", "# report, last day, nonce, envelope (or error)"]
    return "\n".join([*head, *rows]) + "\n"


def _made(table: Table, subject: Subject, reports: Sequence[float | bytes]) -> Iterator[tuple[str, str, str, str]]:
    payload = payload_of(table)
    for i, report in enumerate(reports):
        day = _DAYS[i % len(_DAYS)]
        nonce = _nonce(table, i)
        content = Envelope(subject, _EPOCH + timedelta(days=day), nonce, payload.written(report, table)).content
        yield _report(table, report), str(day), nonce.hex(), content.hex()


def _refused(table: Table, report: float | bytes) -> Iterator[tuple[str, str, str, str]]:
    nonce = _nonce(table, 0).hex()
    yield _report(table, report), str(_DAYS[-1] + 1), nonce, "error"
    match form_of(table):
        case "labels":
            wrong = [("?" * (max(map(len, table.labels.outputs or ("",))) + 1)).encode().hex()]
        case "listed":
            wrong = [digits(math.nan), digits(math.inf)]
        case "double":
            wrong = [digits(math.nan), digits(math.inf), digits(-math.inf)]
        case "bytes":
            wrong = []
    for text in wrong:
        yield text, "0", nonce, "error"


def _reports(table: Table, cases: Sequence[Vector]) -> list[float | bytes]:
    found: list[float | bytes] = [case.y for case in cases if case.y is not None]
    if isinstance(table.law, Listed):
        outputs = table.law.outputs
        places = {*range(4), 255, 256, len(outputs) - 2, len(outputs) - 1}
        found = [*(outputs[i] for i in sorted(places) if 0 <= i < len(outputs)), *found]
    return list(dict.fromkeys(found))[:_MOST_REPORTS]


def _report(table: Table, report: float | bytes) -> str:
    labels, law = table.labels.outputs, table.law
    if labels is not None and isinstance(law, Listed) and not isinstance(report, bytes):
        return labels[law.outputs.index(report)].encode().hex()
    return digits(report)


def _nonce(table: Table, number: int) -> bytes:
    return hashlib.sha256(f"{table.sha256} {number}".encode()).digest()[:NONCE]
