"""Labels of people in one column of a file: CSV, text or Parquet, row by row."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from mechdesign.data.columns import arrow, is_text, plain_array
from mechdesign.data.headers import may_be_name, tell_of_name
from mechdesign.data.sources import open_column
from mechdesign.data.text import place_of, text_column
from mechdesign.errors import FileProblem, InvalidData

_NO_ITEM = ("nan", "na", "n/a", "<na>", "null")  # how programs write that there is no value; "none" may be an item
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)


Found = tuple[Counter[str], dict[str, str]]
"""How many rows hold each label, and the place of the first of them."""


def label_counts(path: Path, column: str | None, domain: Sequence[str] | None) -> Found:
    """The labels in the named column of a file, or in the only one there is."""
    if path.suffix.lower() == ".parquet":
        return _of_parquet(path, column)
    return _of_text(path, column, domain)


def _of_text(path: Path, column: str | None, domain: Sequence[str] | None) -> Found:
    counted, lines = Counter[str](), dict[str, int]()
    for line, label in text_column(path, column):
        counted[label] += 1
        lines.setdefault(label, line)
    if column is None and counted and _takes_name(counted, domain):
        del counted[next(iter(counted))]
        tell_of_name(str(path), items=domain is not None)
    return counted, {label: place_of(path, lines[label], column) for label in counted}


def _takes_name(counted: Counter[str], domain: Sequence[str] | None) -> bool:
    """Whether the first label is no label but the name of the column: it would become an item nobody asked for."""
    first = next(iter(counted))
    if counted[first] > 1 or len(counted) < 2 or (domain is not None and first in domain):
        return False
    others = (label for label in counted if label != first)
    are_values = all(map(is_number_label, others)) if domain is None else set(others) <= set(domain)
    return are_values and may_be_name(first, domain)


def label_places(path: Path, column: str, domain: Sequence[str]) -> list[int]:
    """Of every row the place of its label in the domain, or `InvalidData` where it is not there."""
    places = {label: place for place, label in enumerate(domain)}
    found = []
    for where, label in _named_labels(path, column):
        if label not in places:
            raise InvalidData(where, label, f"hold one of the {len(domain)} labels of the domain", "add it, or correct")
        found.append(places[label])
    return found


def _named_labels(path: Path, column: str) -> Iterator[tuple[str, str]]:
    """The labels of a named column, each with its place."""
    if path.suffix.lower() != ".parquet":
        yield from ((place_of(path, line, column), label) for line, label in text_column(path, column))
        return
    source, name = open_column(path, column)
    row = 0
    for batch in source.read([name]):
        for value in _label_values(batch.column(0), f"column {name!r} of {path}"):
            row += 1
            _require_label(value, f"{path}, column {name!r}, data row {row},")
            yield f"{path}, column {name!r}, data row {row},", _text_of(value)


def require_one_kind(counted: Counter[str], places: Mapping[str, str]) -> None:
    """Observed labels are all numbers, each in one spelling, or all words; and none of them says that it is missing."""
    tip = "correct the data, or pass --domain with all items to say that it is right"
    missing = next((label for label in counted if label.casefold() in _NO_ITEM), None)
    if missing is not None:
        rule = f"hold an item ({counted[missing]} rows seem to hold none)"
        raise InvalidData(places[missing], missing, rule, tip)
    numbers = [label for label in counted if is_number_label(label)]
    if not numbers:
        return
    word = next((label for label in counted if not is_number_label(label)), None)
    if word is not None:
        raise InvalidData(places[word], word, "hold a number, as other rows do", tip)
    spellings: dict[Decimal, str] = {}
    for label in numbers:
        other = spellings.setdefault(Decimal(label), label)
        if other != label:
            raise InvalidData(places[label], label, f"write its number as {places[other]} does", tip)


def _of_parquet(path: Path, column: str | None) -> Found:
    source, name = open_column(path, column)
    counted, rows, before = Counter[Any](), dict[Any, str](), 0
    for batch in source.read([name]):
        values = _label_values(batch.column(0), f"column {name!r} of {path}")
        for k, value in enumerate(values):
            if value not in rows:
                rows[value] = f"{path}, column {name!r}, data row {before + k + 1},"
                _require_label(value, rows[value])
        counted.update(values)
        before += len(values)
    return Counter({_text_of(value): users for value, users in counted.items()}), {
        _text_of(value): place for value, place in rows.items()
    }


def _require_label(value: Any, place: str) -> None:
    if value is None or value == "":
        raise InvalidData(place, value, "hold a label", "drop or fill the rows without a value")
    if isinstance(value, float) and not math.isfinite(value):
        raise InvalidData(place, value, "hold a finite number", "drop or correct the rows that hold none")


def _label_values(column: Any, place: str) -> list[Any]:
    """The labels in an Arrow column of texts, whole numbers or numbers."""
    types, array = arrow().types, plain_array(column)
    is_number = types.is_integer(array.type) or types.is_floating(array.type)
    if not (is_text(array) or is_number or types.is_null(array.type)):
        rule = "be a column of texts or numbers"
        raise FileProblem(place, str(array.type), rule, "cast it to texts first")
    return list(array.to_pylist())


def _text_of(value: Any) -> str:
    """A label as text; a whole number is written as one, whatever its type."""
    is_whole = isinstance(value, float) and value.is_integer() and abs(value) < 2.0**53
    return str(int(value)) if is_whole else str(value)


def is_number_label(text: str) -> bool:
    """Whether text is a finite number as people and programs write it."""
    return _NUMBER.fullmatch(text) is not None
