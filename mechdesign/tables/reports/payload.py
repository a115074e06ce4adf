"""A report as bytes: its own where it has some, the number of its output where outputs are listed, else a double.

Its own bytes are texts in files and columns: two hexadecimal digits each.
"""

from __future__ import annotations

import math
import struct
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.tables.kinds import ItemsLaw, Listed, Reading, Spread
from mechdesign.tables.kinds.items import Rows
from mechdesign.tables.table import Table
from mechdesign.values.declare import frozen, whole

_STEP = "were they written for another table, or damaged on the way?"
_DIGITS = np.full(256, -1, dtype=np.int16)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
_DIGITS[np.frombuffer(b"ABCDEF", dtype=np.uint8)] = np.arange(10, 16)


@frozen
class Payload(ABC):
    """What the bytes of a report hold: ``size`` of them, one and only one way to write each output."""

    kind: ClassVar[str]

    @abstractmethod
    def written(self, code: Any, table: Table) -> bytes:
        """The bytes of an output, which is one of the table."""

    @abstractmethod
    def read(self, content: bytes, table: Table) -> Any:
        """The output that the bytes are, or `InvalidData`."""


@frozen
class Index(Payload):
    """The place of the output among the listed ones, from 0: ``size`` bytes, little-endian."""

    kind: ClassVar[str] = "index"

    outputs: int = whole("outputs", 1)
    size: int = whole("size", 1, 8)

    def written(self, code: Any, table: Table) -> bytes:
        return _place(float(code), table).to_bytes(self.size, "little")

    def read(self, content: bytes, table: Table) -> float:
        law = table.law
        assert isinstance(law, Listed)
        place = int.from_bytes(content, "little")
        if len(content) != self.size or place >= self.outputs:
            raise InvalidData("report", content, f"be {self.size} bytes: a number below {self.outputs}", _STEP)
        return law.outputs[place]


@frozen
class Double(Payload):
    """The output as an IEEE-754 double: 8 bytes, little-endian."""

    kind: ClassVar[str] = "double"

    size: int = whole("size", 8, 8, default=8)

    def written(self, code: Any, table: Table) -> bytes:
        if not _is_output(float(code), table):
            raise InvalidData("report", code, "be a possible output of the table", _STEP)
        return struct.pack("<d", code + 0.0)  # never the negative zero

    def read(self, content: bytes, table: Table) -> float:
        if len(content) == self.size:
            code = float(struct.unpack("<d", content)[0])
            if math.isfinite(code) and struct.pack("<d", code + 0.0) == content and _is_output(code, table):
                return code
        raise InvalidData("report", content, f"be {self.size} bytes: an output of the table", _STEP)


@frozen
class Bytes(Payload):
    """The report itself, of a table on items: ``size`` bytes as its kind says."""

    kind: ClassVar[str] = "bytes"

    size: int = whole("size", 1)

    def written(self, code: Any, table: Table) -> bytes:
        content = code if isinstance(code, bytes) else np.asarray(code, dtype=np.uint8).tobytes()
        self.read(content, table)
        return content

    def read(self, content: bytes, table: Table) -> Any:
        law = table.law
        assert isinstance(law, ItemsLaw)
        if len(content) == self.size:
            row = np.frombuffer(content, dtype=np.uint8)
            if not law.wrong(row[np.newaxis, :])[0]:
                return row
        raise InvalidData("report", content, f"be {self.size} bytes: a report of the table", _STEP)


def payload_of(table: Table) -> Index | Double | Bytes:
    """What the bytes of a report of this table hold.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.words.domains import Finite
    >>> from mechdesign.mechanisms.catalogue import laplace, randomised_response
    >>> payload_of(make_table(randomised_response(1.0, Finite((0, 1))))), payload_of(make_table(laplace(1.0), 16))
    (Index(outputs=2, size=1), Double(size=8))
    """
    law = table.law
    if isinstance(law, ItemsLaw):
        return Bytes(law.report_bytes)
    if isinstance(law, Listed):
        count = len(law.outputs)
        return Index(count, max(1, -(-(count - 1).bit_length() // 8)))
    return Double()


def _place(code: float, table: Table) -> int:
    places, wrong = _reading(table).find(np.array([code]))
    if wrong[0]:
        raise InvalidData("report", code, "be a possible output of the table", _STEP)
    return int(places[0])


def _is_output(code: float, table: Table) -> bool:
    """Whether a table without a list of outputs can give it: the ends of a clamp it can give, too."""
    ends = table.law.clamp if isinstance(table.law, Spread) else None
    if ends is not None and not ends[0] < code < ends[1]:
        return code in ends
    return not _reading(table).find(np.array([code]))[1][0]


@lru_cache(maxsize=64)
def _reading(table: Table) -> Reading:
    return table.law.reading()


# -- bytes as texts ----------------------------------------------------------------------------------------------------


def texts_of(rows: Rows) -> NDArray[np.object_]:
    """Each row in hexadecimal digits.

    >>> texts_of(np.array([[1, 255]], dtype=np.uint8)).tolist()
    ['01ff']
    """
    told = np.empty(len(rows), dtype=object)
    if told.size:
        digits, width = np.ascontiguousarray(rows).tobytes().hex(), 2 * rows.shape[1]
        told[:] = [digits[i : i + width] for i in range(0, len(digits), width)]
    return told


def rows_of_reports(law: ItemsLaw, reports: ArrayLike) -> Rows:
    """Reports as rows: an array of bytes with a row each, or a list of ``bytes`` or of texts of their digits."""
    if isinstance(reports, np.ndarray) and reports.dtype == np.uint8 and reports.ndim == 2:
        if reports.shape[1] != law.report_bytes:
            raise InvalidInput("reports", reports.shape, f"have {law.report_bytes} bytes each")
        return np.ascontiguousarray(reports)
    rows, wrong = rows_of_list(law, list(np.asarray(reports, dtype=object).ravel()))
    if wrong is not None:
        raise InvalidData(f"reports[{wrong}]", "another value", rule_of(law))
    return rows


def rows_of_list(law: ItemsLaw, reports: Sequence[Any]) -> tuple[Rows, int | None]:
    """Reports from their bytes or the digits of these, up to the first that is no report of this law, and its place."""
    width = 2 * law.report_bytes
    texts = [report.hex() if isinstance(report, bytes) else report for report in reports]
    first = next((i for i, text in enumerate(texts) if not isinstance(text, str) or len(text) != width), None)
    content = "".join(texts[:first]).encode("ascii", "replace")
    digits = _DIGITS[np.frombuffer(content, dtype=np.uint8)].reshape(-1, width)
    rows = (digits[:, ::2] << 4 | digits[:, 1::2]).astype(np.uint8)
    wrong = (digits < 0).any(axis=1) | law.wrong(rows)
    if wrong.any():
        first = int(np.argmax(wrong))
    return rows[:first], first


def rule_of(law: ItemsLaw) -> str:
    return f"be a possible report of the table, in {2 * law.report_bytes} hexadecimal digits"
