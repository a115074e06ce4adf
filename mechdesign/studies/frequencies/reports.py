"""Real reports in a file: counted chunk by chunk into the support of the items, so memory does not grow with users.

A CSV file has one report a row, below a header or not: an item's label for randomised response, the labels of a set
for subset selection, k bits for unary encodings (as k fields, or as one word like ``0110``), a seed and a hash value
for local hashing, and the numbers a client sent for the others. A ``.parquet`` file has the same in columns (or one
column of lists); bits and noisy entries whose columns are called as the items are taken by name. A ``.npy`` file holds
the array a client's ``report`` gave, with items as their positions.

Bits may be 0.0 and 1.0, pairs may be ``(seed, y)`` or ``(y, seed)``: y is the column of numbers below g. Seeds may be
64-bit numbers with or without a sign. What people reported is never shown: errors name row, column and rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.arrays import mapped_array
from mechdesign.data.headers import may_be_name, tell_of_name
from mechdesign.data.sources import open_data
from mechdesign.data.text import text_rows
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.protocols.grr import Grr
from mechdesign.studies.frequencies.protocols.hashing import SEED_BITS, LocalHashing
from mechdesign.studies.frequencies.protocols.histogram import SummedHistogram
from mechdesign.studies.frequencies.protocols.longitudinal import Longitudinal
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol
from mechdesign.studies.frequencies.protocols.subset import SubsetSelection
from mechdesign.studies.frequencies.protocols.unary import Unary
from mechdesign.studies.frequencies.protocols.xxh32 import SEED_BITS as SHORT_SEED_BITS
from mechdesign.values.declare import Counts, array, content, field, frozen

Array = NDArray[Any]

SEED_FIRST, HASH_FIRST = "seed,y", "y,seed"
ORDERS = (SEED_FIRST, HASH_FIRST)

_CHUNK = 10_000
_MOST_HASHES = 1 << 16  # hash values that are counted one by one
_BITS = {"0": 0, "1": 1, "0.0": 0, "1.0": 1}


@frozen
class Counted:
    """What an estimate and its checks need of n reports.

    ``hashes`` counts each hash value, of local hashing with few of them. ``repeats`` is the largest number of seeds in
    a ``chunk`` of reports that others in it have too, out of ``2^seed_bits``. Of summed histograms ``outside`` entries
    lie below 0 or above 1, by ``excess`` in all.
    """

    support: Array = array(np.asarray)
    n: int
    hashes: Counts | None = field(default=None, eq=content)
    repeats: int = 0
    chunk: int = _CHUNK
    seed_bits: int | None = None
    outside: int = 0
    excess: float = 0.0


class Withheld:
    """Stands in errors for what a person reported."""

    def __repr__(self) -> str:
        return "a value that is not shown"


def count_reports(
    path: Path | str,
    protocol: FrequencyProtocol,
    labels: Sequence[str],
    *,
    order: str | None = None,
    positions: bool = False,
) -> Counted:
    """The support of every item in a file of reports, and what tells whether they fit.

    ``order`` says how pairs are written where numbers do not; with ``positions`` text files have items as numbers from
    0 instead of their labels, as other packages' clients do.
    """
    source = Path(path)
    if len(labels) != protocol.size:
        raise InvalidInput("domain", len(labels), f"hold {protocol.size} items, as the protocol does")
    if order is not None and order not in ORDERS:
        raise InvalidInput("order of pairs", order, f"be one of {' or '.join(ORDERS)}")
    once = protocol.once if isinstance(protocol, Longitudinal) else protocol
    names = tuple(map(str, range(len(labels)))) if positions else tuple(labels)
    form = _Form.of(once, names, source.name)
    readers = {".npy": _of_array, ".parquet": _of_parquet}
    blocks = readers.get(source.suffix.lower(), _of_text)(source, form)
    return _counted(once, form, blocks, order)


# -- counting ----------------------------------------------------------------------------------------------------------


def _counted(law: FrequencyProtocol, form: _Form, blocks: Iterator[Array], order: str | None) -> Counted:
    total: Array = np.zeros(law.size, dtype=np.float64 if form.kind == "number" else np.int64)
    users = repeats = outside = 0
    excess = 0.0
    hashes = np.zeros(law.hashes, np.int64) if isinstance(law, LocalHashing) and law.hashes <= _MOST_HASHES else None
    seed_bits = None
    if isinstance(law, LocalHashing):
        seed_bits = SEED_BITS if law.hash == "xxh64" else SHORT_SEED_BITS
    for block in blocks:
        if isinstance(law, LocalHashing):
            order = order or _order_of(block, form, users)
            block = _seed_first(block, order, form, users)
            if hashes is not None:
                hashes += np.bincount(block[:, 1].astype(np.int64), minlength=law.hashes)
            seeds = block[:, 0] if seed_bits == SEED_BITS else block[:, 0].astype(np.uint32)
            repeats = max(repeats, seeds.size - np.unique(seeds).size)
        if isinstance(law, SummedHistogram):
            beyond = np.maximum(block - 1.0, -block)
            outside += int((beyond > 0).sum())
            excess += float(beyond[beyond > 0].sum())
        total = total + law.support(block)
        users += len(block)
    if users == 0:
        raise FileProblem("report file", form.file, "hold at least one report")
    return Counted(total, users, hashes, repeats, min(users, _CHUNK), seed_bits, outside, excess)


def _order_of(pairs: Array, form: _Form, before: int) -> str:
    """Which column has the hash values: the one below g throughout."""
    below = pairs < form.most
    seed_first, hash_first = bool(below[:, 1].all()), bool(below[:, 0].all())
    if seed_first and hash_first:
        rule = f"show which column is y: the numbers of both are below g = {form.most}"
        raise FileProblem(f"pairs in {form.file}", Withheld(), rule, "pass --pairs seed,y or --pairs y,seed")
    if not seed_first and not hash_first:
        place = before + 1 + int(np.argmin(below[:, 1] if below[:, 1].sum() >= below[:, 0].sum() else below[:, 0]))
        rule = f"be a pair of a seed and a hash value below g = {form.most}, in one order in all rows"
        raise FileProblem(f"row {place} of {form.file}", Withheld(), rule, "check eps, --g and the protocol")
    return SEED_FIRST if seed_first else HASH_FIRST


def _seed_first(pairs: Array, order: str, form: _Form, before: int) -> Array:
    ordered = pairs if order == SEED_FIRST else pairs[:, ::-1]
    high = ordered[:, 1] >= form.most
    if high.any():
        column = 2 if order == SEED_FIRST else 1
        raise form.problem(before + 1 + int(np.argmax(high)), column, f"be a hash value below g = {form.most}")
    return ordered


# -- what reports look like --------------------------------------------------------------------------------------------


@runtime_checkable
class _Numbered(Protocol):
    """A protocol whose report is one whole number below ``columns``."""

    @property
    def columns(self) -> int: ...


@frozen
class _Form:
    """Reports of a protocol: ``width`` numbers each, of one kind; whole ones are below ``most``."""

    kind: str
    width: int
    most: int
    names: tuple[str, ...]
    protocol: str
    file: str
    flat: bool = False  # one number a report, not a row of one

    @classmethod
    def of(cls, law: FrequencyProtocol, names: tuple[str, ...], file: str) -> _Form:
        if isinstance(law, Grr):
            return cls("item", 1, law.size, names, law.name, file, flat=True)
        if isinstance(law, SubsetSelection):
            return cls("item", law.subset, law.size, names, law.name, file)
        if isinstance(law, Unary):
            return cls("bit", law.size, 2, names, law.name, file)
        if isinstance(law, LocalHashing):
            return cls("pair", 2, law.hashes, names, law.name, file)
        if isinstance(law, _Numbered):
            return cls("index", 1, law.columns, names, law.name, file, flat=True)
        return cls("number", law.size, 0, names, law.name, file)

    def problem(self, row: int, column: int | None, rule: str, tip: str = "") -> FileProblem:
        where = f"row {row} of {self.file}" + (f", column {column}" if column and self.width > 1 else "")
        return FileProblem(where, Withheld(), rule, tip)

    def typed(self, block: Array, before: int) -> Array:
        """Rows of numbers as `support` takes them, or the first number that breaks a rule by its place."""
        if block.ndim == 1 and self.width == 1:
            block = block[:, None]
        if block.ndim != 2 or block.shape[1] != self.width:
            shape = f"{self.width} number{'s' * (self.width > 1)} a report, as {self.protocol} has"
            found = f"{math.prod(block.shape[1:])} a report"  # of the file: a block has some of its rows only
            step = self.other_subset(math.prod(block.shape[1:])) or "check the domain and the protocol"
            raise FileProblem(f"reports in {self.file}", found, f"have {shape}", step)
        kinds, rule = {
            "item": ("iu", f"be made of items, as numbers from 0 to {self.most - 1}"),
            "index": ("iu", f"be made of whole numbers from 0 to {self.most - 1}"),
            "bit": ("biuf", "be made of bits 0 and 1"),
            "pair": ("iu", "be made of whole numbers of 64 bits: floats have lost digits of the seeds"),
            "number": ("iuf", "be made of finite numbers"),
        }[self.kind]
        if block.dtype.kind not in kinds:
            raise FileProblem(f"reports in {self.file}", f"numbers of type {block.dtype}", rule)
        if self.kind == "pair":
            return block.astype(np.uint64)  # a seed with a sign has the same bits
        if self.kind == "number":
            self._require(np.isfinite(block), rule, before)
            return block.astype(np.float64)
        if self.kind == "bit":
            self._require((block == 0) | (block == 1), rule, before)
            return block.astype(np.bool_)
        self._require((block >= 0) & (block < self.most), rule, before)
        items = block.astype(np.int64)
        if self.flat:
            return items[:, 0]
        repeated = (np.diff(np.sort(items, axis=1), axis=1) == 0).any(axis=1)
        if repeated.any():
            rule = f"hold {self.width} distinct items, as reports of {self.protocol} do"
            raise self.problem(before + 1 + int(np.argmax(repeated)), None, rule)
        return items

    def other_subset(self, found: int) -> str:
        """The option that reads sets of another size; empty where reports are no sets, or cannot be of that size."""
        is_size = self.kind == "item" and not self.flat and 0 < found < self.most
        return f"pass --subset {found} if the clients' sets had {found} items" if is_size else ""

    def _require(self, good: Array, rule: str, before: int) -> None:
        if not good.all():
            row, column = divmod(int(np.argmin(good)), good.shape[1])
            raise self.problem(before + row + 1, column + 1, rule)


# -- arrays ------------------------------------------------------------------------------------------------------------


def _of_array(path: Path, form: _Form) -> Iterator[Array]:
    reports = mapped_array(path, "report file")
    if reports.ndim == 0 or len(reports) == 0:
        raise FileProblem("report file", str(path), "hold at least one report")
    for start in range(0, len(reports), _CHUNK):
        yield form.typed(np.array(reports[start : start + _CHUNK]), start)


# -- columns -----------------------------------------------------------------------------------------------------------


def _of_parquet(path: Path, form: _Form) -> Iterator[Array]:
    source = open_data(path)
    names = list(source.names)
    if form.kind in ("bit", "number") and set(names) == set(form.names):
        names = list(form.names)
    elif len(names) not in (1, form.width):
        rule = f"have {form.width} columns, or one of lists, as reports of {form.protocol} do"
        raise FileProblem(
            str(path), f"{len(names)} columns", rule, form.other_subset(len(names)) or "leave out what is no report"
        )
    before = 0
    for batch in source.read(names):
        for start in range(0, batch.num_rows, _CHUNK):
            part = batch.slice(start, _CHUNK)
            columns = [_column(part.column(place), form, before, place + 1) for place in range(len(names))]
            block = columns[0] if len(columns) == 1 else np.stack(columns, axis=1)
            yield form.typed(block, before)
            before += part.num_rows


def _column(column: Any, form: _Form, before: int, place: int) -> Array:
    if column.null_count:
        missing = int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
        raise form.problem(before + missing + 1, place, "hold a value")
    values = column.to_pylist() if form.kind == "item" or column.type.num_fields else None
    if values is None:
        found: Array = column.to_numpy(zero_copy_only=False)
        return found.astype(np.uint64) if form.kind == "pair" and found.dtype.kind in "iu" else found
    rows = [value if isinstance(value, list) else [value] for value in values]
    width = form.width if column.type.num_fields else 1
    for row, fields in enumerate(rows):
        if len(fields) != width or None in fields:
            rule = f"hold {width} value{'s' * (width > 1)}"
            raise form.problem(before + row + 1, place, rule, form.other_subset(len(fields)) if width > 1 else "")
    if form.kind == "item":
        known = {name: position for position, name in enumerate(form.names)}
        for row, fields in enumerate(rows):
            for item in fields:
                if isinstance(item, bool) or not isinstance(item, str | int) or str(item) not in known:
                    raise form.problem(before + row + 1, place, "be made of items of the domain")
        block = np.array([[known[str(item)] for item in fields] for fields in rows], dtype=np.int64)
    else:
        block = np.asarray(rows, dtype=np.uint64 if form.kind == "pair" else None)
    return block if column.type.num_fields else block[:, 0]


# -- text --------------------------------------------------------------------------------------------------------------


def _of_text(path: Path, form: _Form) -> Iterator[Array]:
    parse = _parser(form)
    rows = _without_names(path, form.names if form.kind == "item" else None)
    before = 0
    while chunk := [parse(place, fields) for place, fields in islice(rows, _CHUNK)]:
        kind = {"pair": np.uint64, "index": np.uint64, "number": np.float64}.get(form.kind, np.int64)
        yield form.typed(np.array(chunk, dtype=kind), before)
        before += len(chunk)


def _without_names(path: Path, items: Sequence[str] | None) -> Iterator[tuple[int, list[str]]]:
    """The rows of a file of reports, without a first line that can be none (`mechdesign.data.headers`)."""
    rows = text_rows(path, "report file")
    first = next(rows, None)
    if first is not None and all(may_be_name(field, items) for field in first[1]):
        tell_of_name(str(path), items=items is not None, named=False)
        return rows
    return rows if first is None else chain([first], rows)


def _parser(form: _Form) -> Callable[[int, list[str]], list[Any]]:
    """What turns the fields of a row into numbers, or names the first field that breaks a rule."""
    known = {name: position for position, name in enumerate(form.names)}
    tip = "one report a row"

    def whole(field: str) -> int | None:
        return int(field) if field.isascii() and field.isdigit() and len(field) <= 20 and int(field) < 2**64 else None

    def finite(field: str) -> float | None:
        try:
            number = float(field)
        except ValueError:
            return None
        return number if np.isfinite(number) else None

    kinds: dict[str, tuple[Callable[[str], Any], str]] = {
        "item": (known.get, "be made of items of the domain"),
        "bit": (_BITS.get, "be made of bits 0 and 1"),
        "number": (finite, "be made of finite numbers"),
    }
    one, rule = kinds.get(form.kind, (whole, "be made of whole numbers, at least 0 and below 2^64"))

    def parse(place: int, fields: list[str]) -> list[Any]:
        if form.kind == "bit" and len(fields) == 1 and form.width > 1:
            fields = list(fields[0].strip())
        if len(fields) != form.width:
            have = f"have {form.width} field{'s' * (form.width > 1)}, as reports of {form.protocol} do"
            raise form.problem(place, None, have, form.other_subset(len(fields)) or tip)
        numbers = [one(field.strip()) for field in fields]
        if None in numbers:
            raise form.problem(place, numbers.index(None) + 1, rule, tip)
        return numbers

    return parse
