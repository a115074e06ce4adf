"""One report on its way: of which table, until when it counts, a number that no other has, and the report's bytes.

An envelope has one canonical form as bytes, and a file of them has one envelope a line in base64, so that a damaged one
costs one line. It says nothing of who sent it or when; ``nonce`` is there so that the same envelope counts once.
"""

from __future__ import annotations

import base64
import binascii
import secrets
import struct
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from mechdesign.errors import InvalidData, InvalidInput, sealed
from mechdesign.tables.labels import Names
from mechdesign.tables.reports.payload import payload_of
from mechdesign.tables.sampler import sample_codes
from mechdesign.tables.table import Table
from mechdesign.values.declare import field, frozen

MAGIC, VERSION = b"mdre", 1
TABLE, COLLECTION, DEVICE = 0, 1, 2
"""What the hash of an envelope is of."""
NONCE, HASH = 16, 32
MOST_REPORT = 1 << 16
_HEADER = struct.Struct(f"<4sBBHI{HASH}s{NONCE}s")
_EPOCH = date(1970, 1, 1)
_LAST_DAY = (date.max - _EPOCH).days
_FIRST = 5  # characters that are those of any envelope's line
MOST_LINE = 4 * -(-(_HEADER.size + MOST_REPORT) // 3) + 2


@frozen
class Subject:
    """What a report is of: a table, an attribute of a collection, or a device, by the hash of its file.

    >>> Subject("ab" * 32).form, Subject("ab" * 32, 0).form, Subject("ab" * 32, is_device=True).form
    (0, 1, 2)
    """

    sha256: str = field(converter=lambda said: _require_hash(said))
    attribute: int | None = field(default=None, converter=lambda said: _require_attribute(said))
    is_device: bool = False

    def __attrs_post_init__(self) -> None:
        if self.is_device and self.attribute is not None:
            raise InvalidInput("attribute", self.attribute, "be left out: a device has none")

    @property
    def form(self) -> int:
        """What its hash is of."""
        if self.is_device:
            return DEVICE
        return TABLE if self.attribute is None else COLLECTION


@frozen
class Envelope:
    """A report and what a collector needs to decide whether it counts; ``expires`` is the last day on which it does.

    >>> envelope = Envelope(Subject("00" * 32), date(2030, 12, 31), bytes(16), b"\\x01")
    >>> len(envelope.content), Envelope.read(envelope.content) == envelope
    (61, True)
    """

    subject: Subject
    expires: date
    nonce: bytes = field(repr=False)
    report: bytes = field(repr=False)

    def __attrs_post_init__(self) -> None:
        if type(self.expires) is not date or self.expires < _EPOCH:
            raise InvalidInput("expires", type(self.expires).__name__, "be a date from 1970 on")
        if not isinstance(self.nonce, bytes) or len(self.nonce) != NONCE:
            raise InvalidInput("nonce", type(self.nonce).__name__, f"be {NONCE} bytes")
        if not isinstance(self.report, bytes) or not 0 < len(self.report) <= MOST_REPORT:
            raise InvalidData("report", self.report, f"be 1 to {MOST_REPORT} bytes")

    @property
    def content(self) -> bytes:
        """The canonical bytes."""
        subject = self.subject
        days = (self.expires - _EPOCH).days
        named = bytes.fromhex(subject.sha256)
        return _HEADER.pack(MAGIC, VERSION, subject.form, subject.attribute or 0, days, named, self.nonce) + self.report

    @property
    def line(self) -> bytes:
        """The canonical bytes as a line of a file of envelopes."""
        return base64.b64encode(self.content) + b"\n"

    @classmethod
    def read(cls, content: bytes) -> Envelope:
        """The envelope with these canonical bytes, or `InvalidData`: what it says of its table is not decided here."""
        rule = "be an envelope of version 1"
        if not _HEADER.size < len(content) <= _HEADER.size + MOST_REPORT:
            raise InvalidData("envelope", content, rule)
        magic, version, form, attribute, days, named, nonce = _HEADER.unpack_from(content)
        if (magic, version) != (MAGIC, VERSION) or form not in (TABLE, COLLECTION, DEVICE):
            raise InvalidData("envelope", content, rule)
        if (form != COLLECTION and attribute) or days > _LAST_DAY:
            rule += ": only a collection has attributes, and days end with the year 9999"
            raise InvalidData("envelope", content, rule)
        subject = Subject(named.hex(), attribute if form == COLLECTION else None, form == DEVICE)
        return cls(subject, _EPOCH + timedelta(days=days), nonce, content[_HEADER.size :])

    @classmethod
    def of_line(cls, line: bytes) -> Envelope:
        """The envelope of a line with its newline, or `InvalidData`."""
        try:
            content = base64.b64decode(line.removesuffix(b"\n"), validate=True)
        except (binascii.Error, ValueError):
            raise InvalidData("envelope", line, "be a line of base64") from None
        if base64.b64encode(content) + b"\n" != line:  # bits that base64 does not need, or no newline
            raise InvalidData("envelope", line, "be a line of canonical base64")
        return cls.read(content)


def is_envelopes(path: Path) -> bool:
    """Whether a file begins like an envelope."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return stream.read(_FIRST) == base64.b64encode(MAGIC)[:_FIRST]


@sealed
def enveloped(table: Table, value: Any, expires: date, subject: Subject | None = None) -> Envelope:
    """One report of a value, drawn with the system's randomness, in an envelope with a nonce of the system's too.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> len(enveloped(make_table(duchi(1.0)), 0.25, date(2030, 12, 31)).report)
    1
    """
    names = table.input_names
    code = sample_codes(table, value if names is None else _code(names, value))
    report = payload_of(table).written(code, table)
    return Envelope(subject or Subject(table.sha256), expires, secrets.token_bytes(NONCE), report)


def _code(names: Names, value: Any) -> float:
    return float(names.codes(value))


def _require_hash(said: Any) -> str:
    if not isinstance(said, str) or len(said) != 2 * HASH or not set(said) <= set("0123456789abcdef"):
        raise InvalidInput("hash", said, f"be {2 * HASH} lower-case hexadecimal digits")
    return said


def _require_attribute(said: Any) -> int | None:
    if said is None:
        return None
    if type(said) is not int or not 0 <= said < 1 << 16:
        raise InvalidInput("attribute", said, "be a whole number from 0 to 65535")
    return said
