"""Real reports in a file: counted chunk by chunk into the support of the items, so memory does not grow with users.

A CSV file has no header and one report a row: an item's label for randomised response, the labels of a set for subset
selection, k bits for unary encodings (as k fields, or as one word like ``0110``), and the numbers a client sent for the
others. A ``.npy`` file holds the array the client's ``report`` gave.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.collect.protocols import FrequencyProtocol
from mechdesign.data.arrays import read_array
from mechdesign.data.numbers import require_number_text, require_whole_text
from mechdesign.data.text import text_rows
from mechdesign.errors import FileProblem, InvalidData, InvalidInput, sealed

_CHUNK = 10_000
_OF_ITEMS = ("grr", "l-grr", "ss")  # reports made of items: written as labels


@sealed
def read_support(path: Path | str, protocol: FrequencyProtocol, labels: Sequence[str]) -> tuple[NDArray[Any], int]:
    """The support of every item in a file of reports, and how many reports there are."""
    source = Path(path)
    if len(labels) != protocol.size:
        raise InvalidInput("domain", len(labels), f"hold {protocol.size} items, as the protocol does")
    example = protocol.report(np.zeros(1, dtype=np.int64), np.random.default_rng(0))
    if source.suffix.lower() == ".npy":
        reports = read_array(source, "report file")
        if reports.ndim == 0 or len(reports) == 0:
            raise FileProblem("report file", str(source), "hold at least one report")
        return protocol.support(_bits(reports) if example.dtype.kind == "b" else reports), len(reports)
    total, users = np.zeros(protocol.size), 0
    parse = _parser(protocol, example, labels)
    rows = text_rows(source, "report file")
    while chunk := [_parsed(source, place, fields, parse) for place, fields in islice(rows, _CHUNK)]:
        reports = np.array(chunk, dtype=example.dtype).reshape(len(chunk), *example.shape[1:])
        try:
            total = total + protocol.support(reports)
        except InvalidInput as error:
            where = f"rows {users + 1} to {users + len(chunk)} of {source.name}"
            raise InvalidData(where, error.value, f"hold reports of {protocol.name}: {error}") from None
        users += len(chunk)
    if users == 0:
        raise FileProblem("report file", str(source), "hold at least one report")
    return total, users


def _parser(
    protocol: FrequencyProtocol, example: NDArray[Any], labels: Sequence[str]
) -> Callable[[list[str]], list[Any]]:
    """What turns the fields of a row into a report shaped like the example; ValueError says what is wrong."""
    width, kind = int(np.prod(example.shape[1:])), example.dtype.kind
    limits = np.iinfo(example.dtype) if kind in "iu" else None
    places = {label: place for place, label in enumerate(labels)}
    of_items = protocol.name.lower() in _OF_ITEMS

    def one(field: str) -> Any:
        if of_items:
            if field not in places:
                raise ValueError("be made of items of the domain")
            return places[field]
        if kind == "b":
            if field not in ("0", "1"):
                raise ValueError("be made of bits 0 and 1")
            return field == "1"
        if limits is not None:
            whole = require_whole_text(field)
            if not limits.min <= whole <= limits.max:
                raise ValueError("be made of whole numbers")
            return whole
        number = require_number_text(field)
        if not np.isfinite(number):
            raise ValueError("be made of finite numbers")
        return number

    def parse(fields: list[str]) -> list[Any]:
        if kind == "b" and len(fields) == 1 and width > 1:
            fields = list(fields[0])
        if len(fields) != width:
            raise ValueError(f"have {width} field{'s' * (width > 1)}, as reports of {protocol.name} do")
        return [one(field.strip()) for field in fields]

    return parse


def _parsed(path: Path, place: int, fields: list[str], parse: Callable[[list[str]], list[Any]]) -> list[Any]:
    try:
        return parse(fields)
    except ValueError as error:
        text = str(error)
        rule = text if text.startswith(("be ", "have ")) else "be made of numbers"
        raise InvalidData(f"row {place} of {path.name}", fields, rule, "one report a row, no header") from None


def _bits(reports: NDArray[Any]) -> NDArray[Any]:
    """Whole numbers that are all 0 or 1 are bits, as other programs save them."""
    is_bits = reports.dtype.kind in "iu" and bool(((reports == 0) | (reports == 1)).all())
    return reports.astype(np.bool_) if is_bits else reports
