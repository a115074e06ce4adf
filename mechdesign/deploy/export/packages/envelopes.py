"""Writers of envelopes in packages: a report as the bytes that a collector reads, and vectors that they reproduce.

What an envelope is says `mechdesign.deploy.reports.envelope`, whose bytes the vectors hold.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator, Mapping
from datetime import date, timedelta

from mechdesign.deploy.export.layout import chosen, fill, template, wrapped
from mechdesign.deploy.export.packages.package import Member, Package
from mechdesign.deploy.export.vectors import bits
from mechdesign.deploy.export.writing import Language
from mechdesign.deploy.kinds import Listed
from mechdesign.deploy.reports.envelope import NONCE, Envelope
from mechdesign.deploy.reports.payload import Bytes, Index, payload_of

NOT_IN_OTHERS = ("Envelope", "Envelopes")
"""No table's name ends like this: it would be that of another table's envelopes."""

_EPOCH = date(1970, 1, 1)
_DAYS = (0, 1, 20000, (date.max - _EPOCH).days)
_MOST_REPORTS = 16


def source(
    member: Member,
    name: str,
    language: Language,
    words: Mapping[str, object],
    shape: frozenset[str] | None = None,
) -> str:
    """The writer of a member's envelopes, or its header or types, by the name of its template.

    ``shape`` are the words by which its lines are kept: by default what a report is.
    """
    plan = member.plan
    subject = bytes.fromhex(member.subject.sha256)
    form = form_of(member)
    values: dict[str, object] = {
        "name": member.name,
        "Name": member.camel,
        "stem": plan.stem,
        "guard": plan.stem.upper(),
        "sha": plan.sha256,
        "hash": member.subject.sha256,
        "hash_numbers": wrapped(map(str, subject)),
        "head": ", ".join(map(str, head(member))),
        "of": _of(member),
        "size": payload_of(member.table).size,
        "module": plan.stem,
        **words,
    }
    if form == "labels":
        values |= {
            "output_count": len(plan.output_labels or ()),
            "output_texts": language.listed(plan.output_labels or ()),
        }
    elif isinstance(plan.law, Listed):
        values["OUTPUTS"] = language.declared("OUTPUTS", plan.law.outputs)
    return fill(chosen(template(f"envelope/{name}"), shape or {form}), values)


def tests(package: Package, name: str, words: Mapping[str, object]) -> str:
    """A test of an ecosystem's own, by the name of its template."""
    return fill(template(f"envelope/{name}"), {"package": package.name, **words})


def head(member: Member) -> bytes:
    """How every envelope of a member begins, before its last day."""
    return Envelope(member.subject, _EPOCH, bytes(NONCE), b"0").content[:8]


def length(member: Member) -> int:
    """How long the envelopes of a member are."""
    return len(Envelope(member.subject, _EPOCH, bytes(NONCE), bytes(payload_of(member.table).size)).content)


def form_of(member: Member) -> str:
    """What `sample` gives: one of ``labels``, a number that is ``listed``, any ``double``, or ``bytes``."""
    payload = payload_of(member.table)
    if isinstance(payload, Bytes):
        return "bytes"
    if isinstance(payload, Index):
        return "listed" if member.plan.output_labels is None else "labels"
    return "double"


def read_as(member: Member) -> str:
    """How tests read the report of a vector: ``label``, ``number`` or ``bytes``."""
    return {"labels": "label", "bytes": "bytes"}.get(form_of(member), "number")


def told(snippet: str) -> str:
    """What a README says of envelopes."""
    return f"""

To a collector a report goes in an envelope: {snippet}.
It is bytes; `mechdesign collect-reports` reads files of them, one a line in base64. The last day on which it counts is
in days since 1970-01-01: give everybody the same. Make one envelope of a report, keep it, and send it again if
sending failed: it counts once. Without randomness for its nonce there is the error of the sampler, and no envelope."""


def vectors(member: Member) -> str:
    """Reports, last days and nonces, and the envelopes that they make, or ``error``.

    All but days are hexadecimal digits: reports that are bytes, labels in UTF-8, and the bits of doubles.
    """
    rows = [" ".join(row) for row in (*_made(member), *_refused(member))]
    head = [f"# envelopes of reports of table {member.plan.sha256}", "# report, last day, nonce, envelope (or error)"]
    return "\n".join([*head, *rows]) + "\n"


def _of(member: Member) -> str:
    number = member.subject.attribute
    if member.subject.is_device:
        return "a device"
    return "a table" if number is None else f"a collection, whose attribute {number} this is"


def _made(member: Member) -> Iterator[tuple[str, str, str, str]]:
    payload = payload_of(member.table)
    for i, report in enumerate(_reports(member)):
        day = _DAYS[i % len(_DAYS)]
        nonce = _nonce(member, i)
        written = payload.written(report, member.table)
        content = Envelope(member.subject, _EPOCH + timedelta(days=day), nonce, written).content
        yield _told(member, report), str(day), nonce.hex(), content.hex()


def _refused(member: Member) -> Iterator[tuple[str, str, str, str]]:
    first = _told(member, _reports(member)[0])
    yield first, str(_DAYS[-1] + 1), _nonce(member, 0).hex(), "error"
    form = form_of(member)
    if form == "labels":
        longest = max(map(len, member.plan.output_labels or ("",)))
        wrong = ["?" * (longest + 1)]
    elif form == "listed":
        wrong = [bits(math.nan), bits(math.inf)]
    elif form == "double":
        wrong = [bits(math.nan), bits(math.inf), bits(-math.inf)]
    else:
        return
    for report in wrong:
        yield report.encode().hex() if form == "labels" else report, "0", _nonce(member, 0).hex(), "error"


def _reports(member: Member) -> list[float | bytes]:
    """Reports that the sampler's vectors have; the first and last outputs where they are listed."""
    law = member.plan.law
    found: list[float | bytes] = [case.y for case in member.cases if case.y is not None]
    if isinstance(law, Listed):
        places = {*range(4), 255, 256, len(law.outputs) - 2, len(law.outputs) - 1}
        found = [*(law.outputs[i] for i in sorted(places) if 0 <= i < len(law.outputs)), *found]
    return list(dict.fromkeys(found))[:_MOST_REPORTS]


def _told(member: Member, report: float | bytes) -> str:
    if isinstance(report, bytes):
        return report.hex()
    labels, law = member.plan.output_labels, member.plan.law
    if labels is not None and isinstance(law, Listed):
        return labels[law.outputs.index(report)].encode().hex()
    return bits(report)


def _nonce(member: Member, number: int) -> bytes:
    return hashlib.sha256(f"{member.plan.sha256} {number}".encode()).digest()[:NONCE]
