"""How many users hold each item: read from a file of labels, one row a user, or given outright.

Labels are text: ``1`` and ``1.0`` are different items. Items stand in the order of the domain, which is the one given
or the observed labels, by number if all of them are whole numbers and else by letter.
"""

from __future__ import annotations

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import FileProblem, InvalidInput, MissingExtra

Counts = NDArray[np.int64]

_MOST_ITEMS = 10**6
_MOST_USERS = 10**15  # beyond it a sum of counts could be off by one in doubles


@dataclass(frozen=True, slots=True, eq=False)
class Dataset:
    """Items and how many users hold each.

    >>> Dataset.of_labels(["b", "a", "b"]).counts.tolist()
    [1, 2]
    """

    labels: tuple[str, ...]
    counts: Counts

    def __post_init__(self) -> None:
        require_domain_labels(self.labels)
        counts = np.asarray(self.counts)
        if counts.shape != (len(self.labels),) or counts.dtype.kind not in "iu" or (counts < 0).any():
            raise InvalidInput("counts", self.counts, f"be {len(self.labels)} whole numbers of at least 0")
        if not 0 < counts.astype(np.float64).sum() <= _MOST_USERS:
            raise InvalidInput("counts", int(counts.sum()), f"sum to at least one user and at most {_MOST_USERS:g}")
        object.__setattr__(self, "counts", counts.astype(np.int64))

    @classmethod
    def of_labels(cls, values: Iterable[str], domain: Sequence[str] | None = None) -> Dataset:
        """Labels of users, one each; with a domain, anything outside it is refused."""
        return cls.of_counts(Counter(values), domain)

    @classmethod
    def of_counts(cls, counted: Mapping[str, int], domain: Sequence[str] | None = None) -> Dataset:
        """Labels with their numbers of users; with a domain, anything outside it is refused."""
        labels = tuple(domain) if domain is not None else observed_domain(counted)
        require_domain_labels(labels)
        known = set(labels)
        unknown = [label for label in counted if label not in known]
        if unknown:
            users = sum(counted[label] for label in unknown)
            tail = f"{len(unknown)} labels of {users} users are not in it; the first one is shown"
            raise InvalidInput("label", unknown[0], "be in the domain", tail)
        if sum(counted.values()) > _MOST_USERS:
            raise InvalidInput("counts", sum(counted.values()), f"sum to at most {_MOST_USERS:g} users")
        return cls(labels, np.array([counted.get(label, 0) for label in labels], dtype=np.int64))

    @property
    def n(self) -> int:
        """The number of users."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """The number of items k."""
        return len(self.labels)

    @property
    def frequencies(self) -> NDArray[np.float64]:
        return np.asarray(self.counts / self.n)

    @property
    def digest(self) -> str:
        """What tells this data from any other."""
        text = json.dumps([self.labels, self.counts.tolist()], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def require_domain_labels(labels: Sequence[str]) -> None:
    """At least two different items, none of them empty."""
    if len(labels) < 2:
        raise InvalidInput("domain", list(labels), "hold at least two items", "frequencies of one item are known: 1")
    if len(labels) > _MOST_ITEMS:
        raise InvalidInput("domain", len(labels), f"hold at most {_MOST_ITEMS} items")
    if not all(labels):
        raise InvalidInput("domain", list(labels), "have no empty labels")
    if len(set(labels)) < len(labels):
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise InvalidInput("domain", twice, "name every item once")


def parse_domain_labels(text: str) -> tuple[str, ...]:
    """``A,B,C``, or ``LO..HI`` for all whole numbers from LO to HI.

    >>> parse_domain_labels("0..3")
    ('0', '1', '2', '3')
    """
    first, dots, last = text.partition("..")
    if dots and _is_whole(first) and _is_whole(last):
        low, high = int(first), int(last)
        if not 0 <= high - low < _MOST_ITEMS:
            raise InvalidInput("domain", text, f"go up, over at most {_MOST_ITEMS} numbers", "for example 0..127")
        return tuple(map(str, range(low, high + 1)))
    labels = tuple(part.strip() for part in text.split(","))
    require_domain_labels(labels)
    return labels


def observed_domain(labels: Iterable[str]) -> tuple[str, ...]:
    """Observed labels in order: by number if all are whole numbers, else by letter."""
    found = set(labels)
    if all(map(_is_whole, found)):
        return tuple(sorted(found, key=lambda label: (int(label), label)))
    return tuple(sorted(found))


def gaps(labels: Sequence[str]) -> int:
    """How many whole numbers between the least and the largest label are missing; 0 unless all are whole numbers."""
    if not labels or not all(map(_is_whole, labels)):
        return 0
    numbers = [int(label) for label in labels]
    return max(numbers) - min(numbers) + 1 - len(set(numbers))


def read_dataset(path: Path | str, *, column: str | None = None, domain: Sequence[str] | None = None) -> Dataset:
    """Labels of users from CSV or text (one row a user), JSON (a list of labels, or labels with counts) or Parquet.

    Without ``column``, rows hold one label each and there is no header.
    """
    source = Path(path)
    kind = source.suffix.lower()
    if kind == ".json":
        if column is not None:
            raise InvalidInput("column", column, "be left out with a JSON file")
        return _of_json(source, domain)
    labels = _parquet_column(source, column) if kind == ".parquet" else _text_column(source, column)
    counted = Counter(labels)
    if not counted:
        raise FileProblem("data file", str(source), "hold at least one user")
    if column is None and kind != ".parquet":
        _refuse_a_header(source, counted)
    return Dataset.of_counts(counted, domain)


def _text_column(path: Path, column: str | None) -> Iterator[str]:
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows = csv.reader(stream, strict=True)
            width, place = 1, 0
            if column is not None:
                header = [name.strip() for name in next(rows, [])]
                if header.count(column) != 1:
                    rule = "name one column" if column in header else f"be one of {', '.join(header) or 'none'}"
                    raise InvalidInput("column", column, rule, f"look at the first line of {path}")
                width, place = len(header), header.index(column)
            for fields in rows:
                if not fields:
                    continue  # an empty line, as at the end of many files
                if len(fields) != width:
                    tip = "pass --column NAME if the file has a header" if column is None else "quote commas"
                    what = f"row {rows.line_num} of {path.name}"
                    raise FileProblem(what, ",".join(fields), f"have {width} field{'s' * (width > 1)}", tip)
                label = fields[place].strip()
                if not label:
                    raise FileProblem(f"row {rows.line_num} of {path.name}", "", "hold a label", "one row a user")
                yield label
    except OSError as error:
        raise FileProblem("data file", str(path), f"be readable: {error.strerror or error}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileProblem("data file", str(path), f"be text in UTF-8, one row a user: {error}") from None


def _refuse_a_header(path: Path, counted: Counter[str]) -> None:
    """One word above nothing but numbers is a header, and would become an item nobody asked for."""
    words = [label for label in counted if not _is_number(label)]
    first = next(iter(counted))
    if words == [first] and counted[first] == 1 and len(counted) > 1:
        tip = f"pass --column {first!r} if it is a header, or the domain to say it is not"
        raise FileProblem(f"row 1 of {path.name}", first, "be a number like all other rows", tip)


def _of_json(path: Path, domain: Sequence[str] | None) -> Dataset:
    try:
        document = json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=_once)
    except OSError as error:
        raise FileProblem("data file", str(path), f"be readable: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise FileProblem("data file", str(path), f"be valid JSON: {error}") from None
    if isinstance(document, dict) and document:
        wrong = [label for label, count in document.items() if type(count) is not int or count < 0]
        if wrong:
            raise FileProblem(f"count of {wrong[0]!r}", document[wrong[0]], "be a whole number of at least 0")
        return Dataset.of_counts(document, domain)
    if isinstance(document, list) and document:
        return Dataset.of_labels(_same_kind(document, path), domain)
    raise FileProblem("data file", str(path), "hold a list of labels, or an object of labels with counts")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a label appears twice")
    return result


def _parquet_column(path: Path, column: str | None) -> Iterator[str]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtra("a Parquet file", "data") from None
    try:
        table = parquet.read_table(path)
    except (OSError, ValueError) as error:
        raise FileProblem("data file", str(path), f"be a readable Parquet file: {error}") from None
    names = table.column_names
    if column is None and len(names) != 1:
        raise InvalidInput("column", None, f"be one of {', '.join(names)}", "the file has several columns")
    name = names[0] if column is None else column
    if names.count(name) != 1:
        raise InvalidInput("column", name, f"be one of {', '.join(names)}")
    return iter(_same_kind(table[name].to_pylist(), path))


def _same_kind(values: Sequence[Any], path: Path) -> list[str]:
    """Labels that are all text or all whole numbers, as text."""
    for kind in (str, int):
        if all(type(value) is kind and value != "" for value in values):
            return [str(value) for value in values]
    kinds = {type(value).__name__ for value in values}
    raise FileProblem("data file", str(path), f"hold labels that are all text or all whole numbers (found {kinds})")


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
