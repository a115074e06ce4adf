"""Reports that are bytes, as texts: two hexadecimal digits a byte, which every file and every column can hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.deploy.kinds.items import ItemsLaw, Rows
from mechdesign.errors import InvalidData, InvalidInput

_DIGITS = np.full(256, -1, dtype=np.int16)
_DIGITS[np.frombuffer(b"0123456789abcdef", dtype=np.uint8)] = np.arange(16)
_DIGITS[np.frombuffer(b"ABCDEF", dtype=np.uint8)] = np.arange(10, 16)


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
    listed = list(np.asarray(reports, dtype=object).ravel())
    texts = [report.hex() if isinstance(report, bytes) else report for report in listed]
    rows, wrong = rows_of_texts(law, texts)
    if wrong is not None:
        raise InvalidData(f"reports[{wrong}]", "another value", rule_of(law))
    return rows


def rows_of_texts(law: ItemsLaw, texts: list[Any]) -> tuple[Rows, int | None]:
    """Reports from their digits, up to the first text that is none, and its place."""
    width = 2 * law.report_bytes
    first = next((i for i, text in enumerate(texts) if not isinstance(text, str) or len(text) != width), None)
    content = "".join(texts if first is None else texts[:first]).encode("ascii", "replace")
    digits = _DIGITS[np.frombuffer(content, dtype=np.uint8)].reshape(-1, width)
    wrong = (digits < 0).any(axis=1)
    if wrong.any():
        first = int(np.argmax(wrong))
        digits = digits[:first]
    return (digits[:, ::2] << 4 | digits[:, 1::2]).astype(np.uint8), first


def rule_of(law: ItemsLaw) -> str:
    return f"be a possible report of the table, in {2 * law.report_bytes} hexadecimal digits"
