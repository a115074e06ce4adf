"""Numbers of people in one column of a file: CSV or Parquet, piece by piece."""

from __future__ import annotations

import math
from array import array
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from mechdesign.data.columns import typed, use_numbers
from mechdesign.data.headers import may_be_name, tell_of_name
from mechdesign.data.numbers import number_of
from mechdesign.data.sources import open_column
from mechdesign.data.text import place_of, text_column
from mechdesign.errors import FileProblem, InvalidData
from mechdesign.values.declare import Floats

_CHUNK = 1 << 16


def number_chunks(path: Path | str, column: str | None) -> Iterator[Floats]:
    """The finite numbers of one column, in order; any other row is an `InvalidData` that names it.

    The column of a file that has only one need not be named.
    """
    source = Path(path)
    found = 0
    for chunk in _of_parquet(source, column) if source.suffix.lower() == ".parquet" else _of_text(source, column):
        found += chunk.size
        yield chunk
    if not found:
        raise FileProblem("data file", str(source), "hold at least one row of data")


def _of_text(path: Path, column: str | None) -> Iterator[Floats]:
    cells = text_column(path, column)
    if column is None:
        first = next(cells, None)
        if first is not None and may_be_name(first[1]):
            tell_of_name(str(path), items=False)
        elif first is not None:
            cells = chain([first], cells)
    while chunk := array("d", (_number(path, line, column, cell) for line, cell in islice(cells, _CHUNK))):
        yield np.frombuffer(chunk, dtype=np.float64)


def _number(path: Path, line: int, column: str | None, cell: str) -> float:
    number = number_of(cell)
    if number is None:
        raise InvalidData(place_of(path, line, column), cell, "be a number")
    if not math.isfinite(number):
        raise InvalidData(place_of(path, line, column), cell, "be finite")
    return number


def _of_parquet(path: Path, column: str | None) -> Iterator[Floats]:
    data, name = open_column(path, column)
    before = 0
    for batch in data.read([name]):
        yield use_numbers(batch.column(0), typed, _require_finite, f"{path}, column {name!r}", before)
        before += batch.num_rows


def _require_finite(values: Floats) -> Floats:
    wrong = np.flatnonzero(~np.isfinite(values))
    if wrong.size:
        raise InvalidData(f"values[{wrong[0]}]", float(values[wrong[0]]), "be finite")
    return values
