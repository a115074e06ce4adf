"""How many users hold each item: read from a file of labels, one row a user, or given outright.

Labels are text; whole numbers in a program are taken as their digits. Items stand in the order of the domain, which is
the one given or the observed labels, by number if all of them are whole numbers and else by letter. Observed labels of
a text file are refused where they look like several kinds of data: numbers among words, one number in two spellings.
"""

from __future__ import annotations

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.deploy.frames_columns import require_columns
from mechdesign.deploy.frames_files import open_data
from mechdesign.errors import FileProblem, InvalidInput

Counts = NDArray[np.int64]

_MOST_ITEMS = 10**6
_MISSING = ("nan", "na", "n/a", "<na>", "null")  # how programs write that there is no value
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d{1,4})?", re.ASCII | re.IGNORECASE)
_NUMERIC = re.compile(r"[+-]?[.,]?\d|[+-]?inf(inity)?$", re.ASCII | re.IGNORECASE)  # how numbers begin, mistyped too
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
    def of_labels(cls, values: Iterable[str | int], domain: Sequence[str | int] | None = None) -> Dataset:
        """Labels of users, one each: all text, or all whole numbers; with a domain, anything outside it is refused."""
        return cls.of_counts(Counter(_as_text(values, "labels")), domain)

    @classmethod
    def of_counts(cls, counts: Mapping[Any, int], domain: Sequence[str | int] | None = None) -> Dataset:
        """Labels with their numbers of users; with a domain, anything outside it is refused.

        >>> Dataset.of_counts({1: 5, 0: 3}, domain=range(3)).counts.tolist()
        [3, 5, 0]
        """
        if not isinstance(counts, Mapping):
            raise InvalidInput("counts", counts, "map labels to numbers of users", 'such as {"a": 10, "b": 7}')
        for label, count in counts.items():
            if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < 0:
                raise InvalidInput(f"count of {label!r}", count, "be a whole number of at least 0")
        counted = dict(zip(_as_text(counts, "labels"), map(int, counts.values()), strict=True))
        labels = observed_domain(counted) if domain is None else tuple(_as_text(domain, "domain"))
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
    if not all(isinstance(label, str) for label in labels):
        raise InvalidInput("domain", list(labels), "hold labels that are text", "Dataset.of_counts takes numbers too")
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

    Without ``column``, rows hold one label each. A word above nothing but numbers is then taken for a header;
    `likely_header` tells of it.
    """
    source = Path(path)
    kind = source.suffix.lower()
    if kind == ".json":
        if column is not None:
            raise InvalidInput("column", column, "be left out with a JSON file")
        return _of_json(source, domain)
    if kind == ".parquet":
        return Dataset.of_counts(_of_parquet(source, column), domain)
    counted = Counter(_text_column(source, column))
    if not counted:
        raise FileProblem("data file", str(source), "hold at least one user")
    if domain is None:
        if column is None:
            _take_header(counted)
        _require_one_kind(source, counted)
    return Dataset.of_counts(counted, domain)


def likely_header(path: Path | str, data: Dataset) -> str | None:
    """The word in the first row of a text file without a named column, if no other row holds it.

    It is a label of the data, or not if it was taken for a header.
    """
    source = Path(path)
    if source.suffix.lower() in (".json", ".parquet"):
        return None
    first = next(_text_column(source, None))
    if first not in data.labels:
        return first
    return first if not _is_number(first) and data.counts[data.labels.index(first)] == 1 else None


def text_rows(path: Path, what: str) -> Iterator[tuple[int, list[str]]]:
    """The rows of a CSV file in UTF-8 with their line numbers; empty lines are for the end of the file."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            rows, empty = csv.reader(stream, strict=True), 0
            for fields in rows:
                if not any(map(str.strip, fields)) and len(fields) < 2:
                    empty = empty or rows.line_num
                elif empty:
                    raise FileProblem(
                        f"row {empty} of {path.name}", "", "not be empty", "empty lines may only end a file"
                    )
                else:
                    yield rows.line_num, fields
    except OSError as error:
        raise FileProblem(what, str(path), f"be readable: {error.strerror or error}") from None
    except (csv.Error, UnicodeDecodeError) as error:
        raise FileProblem(what, str(path), f"be a CSV file in UTF-8: {error}") from None


def _text_column(path: Path, column: str | None) -> Iterator[str]:
    rows = text_rows(path, "data file")
    width, place = 1, 0
    if column is not None:
        header = [name.strip() for name in next(rows, (0, []))[1]]
        require_columns([column], header, f"the first line of {path}")
        width, place = len(header), header.index(column)
    for line, fields in rows:
        row = f"row {line} of {path.name}"
        if len(fields) != width:
            tip = "pass --column NAME if the file has a header" if column is None else "quote commas"
            raise FileProblem(row, ",".join(fields), f"have {width} field{'s' * (width > 1)}", tip)
        label = fields[place].strip()
        if not label:
            raise FileProblem(row, "", "hold a label", "one row a user")
        yield label


def _take_header(counted: Counter[str]) -> None:
    """One word above nothing but numbers is a header, and would become an item nobody asked for.

    What is missing or begins like a number, such as 1e5x or 7 kWh, is no word: a user would be lost with it.
    """
    words = [label for label in counted if not _is_number(label)]
    first = next(iter(counted))
    if _NUMERIC.match(first) or first.lower() in _MISSING:
        return
    if words == [first] and counted[first] == 1 and len(counted) > 1:
        del counted[first]


def _require_one_kind(path: Path, counted: Counter[str]) -> None:
    """Observed labels are all numbers, each in one spelling, or all words; and none of them says that it is missing."""
    tip = "correct the data, or pass --domain with all items to say that it is right"
    missing = next((label for label in counted if label.lower() in _MISSING), None)
    if missing is not None:
        raise FileProblem(
            f"a label of {path.name}", missing, f"be an item ({counted[missing]} rows seem to hold none)", tip
        )
    numbers = [label for label in counted if _is_number(label)]
    if not numbers:
        return
    word = next((label for label in counted if not _is_number(label)), None)
    if word is not None:
        raise FileProblem(f"a label of {path.name}", word, f"be a number, as others are, such as {numbers[0]}", tip)
    spellings: dict[Decimal, str] = {}
    for label in numbers:
        other = spellings.setdefault(Decimal(label), label)
        if other != label:
            raise FileProblem(f"a label of {path.name}", label, f"be written like {other}, the same number", tip)


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


def _of_parquet(path: Path, column: str | None) -> Counter[str]:
    source = open_data(path)
    if column is None and len(source.names) != 1:
        raise InvalidInput("column", None, f"be one of {', '.join(source.names)}", "the file has several columns")
    name = source.names[0] if column is None else column
    require_columns([name], source.names, str(path))
    values = Counter[Any]()
    for batch in source.read([name]):
        values.update(batch.column(0).to_pylist())
    labels = _same_kind(values, path)
    if not labels:
        raise FileProblem("data file", str(path), "hold at least one user")
    return Counter(dict(zip(labels, values.values(), strict=True)))


def _same_kind(values: Iterable[Any], path: Path) -> list[str]:
    """`_as_text` of the labels in a file."""
    try:
        return _as_text(values, "labels")
    except InvalidInput as error:
        raise FileProblem("data file", str(path), f"hold labels that are {error.rule.removeprefix('be ')}") from None


def _as_text(values: Any, field: str) -> list[str]:
    """Labels that are all text or all whole numbers, as text."""
    rule = "be all text or all whole numbers, and not empty"
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidInput(field, values, "be a list of labels")
    found = list(values)
    if all(isinstance(value, str) and value for value in found):
        return list(map(str, found))
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in found):
        return [str(int(value)) for value in found]
    odd = next((v for v in found if isinstance(v, bool) or v == "" or not isinstance(v, str | int | np.integer)), found)
    raise InvalidInput(field, odd, rule)


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19


def _is_number(text: str) -> bool:
    """Whether text is a finite number as people and programs write it."""
    return _NUMBER.fullmatch(text) is not None
