"""How many users hold each item: read from a file of labels, one row a user, or given outright.

Labels are text; whole numbers in a program are taken as their digits. Items stand in the order of the domain, which is
the one given or the observed labels, by number if all of them are whole numbers and else by letter. Observed labels of
a text file are refused where they look like several kinds of data: numbers among words, one number in two spellings.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.data.labels import is_number_label, label_counts, require_one_kind
from mechdesign.data.numbers import number_of
from mechdesign.data.text import text_column
from mechdesign.data.values import number_chunks
from mechdesign.errors import FileProblem, InvalidData, InvalidInput, require_whole, sealed
from mechdesign.values import files
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.words.domains import Interval, require_numbers

_MOST_ITEMS = 10**6
_MOST_BYTES = 256 * 2**20  # of JSON, which is read whole
_MOST_USERS = 10**15  # beyond it a sum of counts could be off by one in doubles


def _counts(said: ArrayLike) -> Counts:
    counts = np.asarray(said)
    if counts.dtype.kind not in "iu" or (counts < 0).any():
        raise InvalidData("counts", said, "be whole numbers of at least 0, one for each label")
    if not 0 < counts.astype(np.float64).sum() <= _MOST_USERS:
        raise InvalidInput("counts", int(counts.sum()), f"sum to at least one user and at most {_MOST_USERS:g}")
    return counts.astype(np.int64)


@frozen
class Dataset:
    """Items and how many users hold each.

    >>> Dataset.of_labels(["b", "a", "b"]).counts.tolist()
    [1, 2]
    """

    labels: tuple[str, ...]
    counts: Counts = array(_counts)

    def __attrs_post_init__(self) -> None:
        require_domain_labels(self.labels)
        if self.counts.shape != (len(self.labels),):
            raise InvalidData("counts", self.counts, f"be {len(self.labels)} whole numbers of at least 0")

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
        for place, count in enumerate(counts.values(), start=1):
            if isinstance(count, bool | np.bool_) or not isinstance(count, int | np.integer) or count < 0:
                raise InvalidData(f"the count of label {place}", count, "be a whole number of at least 0")
        counted = dict(zip(_as_text(counts, "labels"), map(int, counts.values()), strict=True))
        labels = observed_domain(counted) if domain is None else tuple(_as_text(domain, "domain"))
        require_domain_labels(labels)
        known = set(labels)
        unknown = [label for label in counted if label not in known]
        if unknown:
            users = sum(counted[label] for label in unknown)
            place = list(counted).index(unknown[0]) + 1
            tail = f"{len(unknown)} labels of {users} users are not in it"
            raise InvalidData(f"label {place} of {len(counted)}", unknown[0], "be in the domain", tail)
        if sum(counted.values()) > _MOST_USERS:
            raise InvalidInput("counts", sum(counted.values()), f"sum to at most {_MOST_USERS:g} users")
        return cls(labels, np.array([counted.get(label, 0) for label in labels], dtype=np.int64))

    @classmethod
    def of_numbers(cls, values: ArrayLike, bins: int, domain: Interval | None = None) -> Dataset:
        """Numbers of users in so many equal bins of the domain, or else from the least to the largest of them.

        A bin has its lower end, the last one both; items are called by their ends. A number outside is refused.

        >>> data = Dataset.of_numbers([0.0, 1.0, 2.5, 4.0], 2)
        >>> data.labels, data.counts.tolist()
        (('[0, 2)', '[2, 4]'), [2, 2])
        """
        numbers = np.asarray(require_numbers(values, "values"), dtype=np.float64)
        if numbers.ndim != 1 or not numbers.size:
            raise InvalidInput("values", numbers.shape, "be a list of at least one number")
        return cls._of_chunks(lambda: [numbers], bins, domain)

    @classmethod
    def _of_chunks(cls, chunks: Callable[[], Iterable[Floats]], bins: int, domain: Interval | None) -> Dataset:
        """The numbers of all chunks, which are gone through twice where nobody said between which ends they lie."""
        count = require_whole(bins, "bins", 2, _MOST_ITEMS, "one bin alone needs no estimate")
        ends = _ends(chunks()) if domain is None else domain
        edges = np.linspace(ends.lower, ends.upper, count + 1)
        if not (np.diff(edges) > 0).all():
            raise InvalidInput("bins", count, "be so few that neighbouring ends differ as doubles", "take fewer bins")
        counts, before = np.zeros(count, dtype=np.int64), 0
        for chunk in chunks():
            outside = ~((chunk >= ends.lower) & (chunk <= ends.upper))
            if outside.any():
                place = int(np.argmax(outside))
                rule = f"lie in [{ends.lower:g}, {ends.upper:g}]"
                step = f"{int(outside.sum())} of these rows do not: widen the domain"
                raise InvalidData(f"data row {before + place + 1}", float(chunk[place]), rule, step)
            places = np.searchsorted(edges[1:-1], chunk, side="right")
            counts += np.bincount(places, minlength=count)
            before += chunk.size
        return cls(_bin_labels(edges), counts)

    @property
    def n(self) -> int:
        """The number of users."""
        return int(self.counts.sum())

    @property
    def size(self) -> int:
        """The number of items k."""
        return len(self.labels)

    @property
    def frequencies(self) -> Floats:
        return np.asarray(self.counts / self.n)

    @property
    def digest(self) -> str:
        """What tells this data from any other."""
        text = json.dumps([self.labels, self.counts.tolist()], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


def _ends(chunks: Iterable[Floats]) -> Interval:
    low, high = math.inf, -math.inf
    for chunk in chunks:
        if not np.isfinite(chunk).all():
            place = int(np.argmin(np.isfinite(chunk)))
            raise InvalidData(f"values[{place}]", float(chunk[place]), "be finite")
        low, high = min(low, float(chunk.min())), max(high, float(chunk.max()))
    try:
        return Interval(low, high)
    except InvalidInput:  # whose words would quote the least and the largest
        failure = InvalidInput("bins", "numbers all but equal", "have numbers to tell apart", "give the domain")
    raise failure


def _bin_labels(edges: Floats) -> tuple[str, ...]:
    """``[low, high)`` of each bin, in as few digits as tell all ends apart."""
    digits = next(d for d in range(6, 18) if len({f"{end:.{d}g}" for end in edges.tolist()}) == edges.size)
    ends = [f"{end:.{digits}g}" for end in (edges + 0.0).tolist()]
    pairs = list(zip(ends, ends[1:], strict=False))
    return tuple(f"[{low}, {high}{')' if k < len(pairs) else ']'}" for k, (low, high) in enumerate(pairs, start=1))


def require_domain_labels(labels: Sequence[str]) -> None:
    """At least two different items, none of them empty."""
    if len(labels) < 2:
        step = "where all users give one answer there is nothing to estimate"
        raise InvalidInput("domain", f"{len(labels)} items", "hold at least two items", step)
    if len(labels) > _MOST_ITEMS:
        raise InvalidInput("domain", len(labels), f"hold at most {_MOST_ITEMS} items")
    if not all(isinstance(label, str) for label in labels):
        raise InvalidData("domain", labels, "hold labels that are text", "Dataset.of_counts takes numbers too")
    if not all(labels):
        raise InvalidData("domain", labels, "have no empty labels")
    if len(set(labels)) < len(labels):
        twice = next(label for label, times in Counter(labels).items() if times > 1)
        raise InvalidData(f"item {labels.index(twice) + 1} of the domain", twice, "be there once")


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


@sealed
def read_bins(path: Path | str, bins: int, *, column: str | None = None, domain: Interval | None = None) -> Dataset:
    """`Dataset.of_numbers` of one column of a CSV, text or Parquet file, in constant memory."""
    return Dataset._of_chunks(lambda: number_chunks(path, column), bins, domain)


@sealed
def read_dataset(
    path: Path | str, *, column: str | None = None, domain: Sequence[str] | None = None, numeric: bool = False
) -> Dataset:
    """Labels of users from CSV or text (one row a user), JSON (a list of labels, or labels with counts) or Parquet.

    Without ``column``, rows hold one label each, and `mechdesign.data.headers` says what the first one is. Labels that
    have to be ``numeric`` are finite numbers of at least 0, as consumptions are.
    """
    source = Path(path)
    kind = source.suffix.lower()
    if kind == ".json":
        if column is not None:
            raise InvalidInput("column", column, "be left out with a JSON file")
        data = _of_json(source, domain)
        _require_numbers(data.labels if numeric else (), {})
        return data
    if domain is not None:
        domain = _as_text(domain, "domain")
        require_domain_labels(domain)
    counted, places = label_counts(source, column, domain)
    if not counted:
        raise FileProblem("data file", str(source), "hold at least one user")
    _require_numbers(counted if numeric else (), places)
    if domain is not None:
        known = set(domain)
        unknown = [label for label in counted if label not in known]
        if unknown:
            tail = f"{len(unknown)} labels of {sum(counted[label] for label in unknown)} users are not in it"
            if column is None and kind != ".parquet":
                tail += "; pass --column NAME if the first line is a header"
            raise InvalidData(places[unknown[0]], unknown[0], "hold an item of the domain", tail)
    elif kind != ".parquet":
        require_one_kind(counted, places)
    return Dataset.of_counts(counted, domain)


def is_lone_first(path: Path | str, data: Dataset) -> bool:
    """Whether the first row of a text file without a named column is a word and a label that no other row holds."""
    source = Path(path)
    if source.suffix.lower() in (".json", ".parquet"):
        return False
    _, first = next(text_column(source, None))
    return not is_number_label(first) and first in data.labels and int(data.counts[data.labels.index(first)]) == 1


def _require_numbers(labels: Iterable[str], places: Mapping[str, str]) -> None:
    for k, label in enumerate(labels, start=1):
        number = number_of(label)
        if number is None or not math.isfinite(number) or number < 0:
            place = places.get(label, f"label {k}")
            rule = "hold a finite number of at least 0"
            raise InvalidData(place, label, rule, "pass --column NAME if there is a header")


def _of_json(path: Path, domain: Sequence[str] | None) -> Dataset:
    content = files.read_bytes(path, "data file", _MOST_BYTES)
    try:
        document = json.loads(content.decode("utf-8"), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise FileProblem("data file", str(path), f"be valid JSON: {error}") from None
    if isinstance(document, dict) and document:
        return Dataset.of_counts(document, domain)
    if isinstance(document, list) and document:
        return Dataset.of_labels(_as_text(document, f"entry of {path.name}"), domain)
    raise FileProblem("data file", str(path), "hold a list of labels, or an object of labels with counts")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) < len(pairs):
        raise ValueError("a label appears twice")
    return result


def _as_text(values: Any, field: str) -> list[str]:
    """Labels that are all text or all whole numbers, as text."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise InvalidData(field, values, "be a list of labels")
    found = list(values)
    if all(isinstance(value, str) and value for value in found):
        return list(map(str, found))
    if all(isinstance(value, int | np.integer) and not isinstance(value, bool) for value in found):
        return [str(int(value)) for value in found]
    kinds = [_kind_of(value) for value in found]
    place = next((k for k, kind in enumerate(kinds) if not kind or kind != kinds[0]), 0)
    raise InvalidData(f"{field}[{place}]", found[place], "be all text or all whole numbers, and not empty")


def _kind_of(value: Any) -> str:
    """Which kind of label a value is, if any."""
    if isinstance(value, str):
        return "text" if value else ""
    return "whole" if isinstance(value, int | np.integer) and not isinstance(value, bool) else ""


def _is_whole(text: str) -> bool:
    digits = text.removeprefix("-")
    return digits.isascii() and digits.isdigit() and len(digits) < 19
