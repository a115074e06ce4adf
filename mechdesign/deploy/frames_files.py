"""CSV and Parquet files in pieces: read in constant memory, written under a temporary name, then renamed.

PyArrow reads both: a CSV row with too many or too few cells is an error with its number, where other readers drop the
cells of columns that were not asked for, so that ``0,5`` would be read as 0.
"""

from __future__ import annotations

import contextlib
import csv
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from io import FileIO, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO

from mechdesign.deploy.frames_columns import Reading, arrow, is_number, typed, written
from mechdesign.errors import FileProblem, InvalidInput

_BLOCK = 2 * 2**20  # bytes of CSV: a row must fit, and some 32 blocks are read ahead
_ROWS = 1 << 18  # of Parquet

Progress = Callable[[int, int], None]
"""Told rows done and rows in all; of a CSV file the latter is an estimate from its bytes until all are done."""


@dataclass(frozen=True, slots=True)
class DataFile:
    """Columns of data. ``read(columns)`` gives Arrow batches in the order of the rows; ``path`` is of a file.

    ``read_groups(columns, which)`` does so for some of the ``groups`` of rows, where a file can be read in parts.
    """

    name: str
    path: Path | None
    names: tuple[str, ...]
    read: Callable[[Sequence[str]], Iterator[Any]]
    reading: Reading
    rows_in_all: Callable[[int], int]
    metadata: Mapping[str, str] = field(default_factory=dict)
    hint: str = ""  # what may be wrong with the names
    groups: tuple[int, ...] = ()
    read_groups: Callable[[Sequence[str], range], Iterator[Any]] | None = None


def open_data(path: Path | str) -> DataFile:
    """A ``.csv`` file with a header or a ``.parquet`` file, or `FileProblem`."""
    target = Path(path)
    form = form_of(target, "data file")
    arrow()
    try:
        if not target.is_file():
            rule = "be a file" if target.exists() else "exist"
            raise FileProblem("data file", str(target), rule)
        return (_open_csv if form == ".csv" else _open_parquet)(target)
    except OSError as error:
        raise _unreadable(target, error) from None
    except ValueError as error:  # a null character in the name
        if isinstance(error, InvalidInput):
            raise
        raise FileProblem("data file", str(target), "be readable") from None


def form_of(path: Path, what: str) -> str:
    """Which of the two formats a file has, by its name."""
    form = path.suffix.lower()
    if form not in (".csv", ".parquet"):
        raise FileProblem(what, str(path), "end in .csv or .parquet", "the end of the name says the format")
    return form


def _unreadable(path: Path, error: OSError) -> FileProblem:
    return FileProblem("data file", str(path), f"be readable: {(error.strerror or str(error)).lower()}")


# -- CSV ---------------------------------------------------------------------------------------------------------------


class _QuoteCounter(RawIOBase):
    """A file that counts the quotes read: an odd number of them hides the rows after an open one."""

    def __init__(self, path: Path) -> None:
        self._file = FileIO(path)
        self.quotes = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        content = self._file.read(size)
        self.quotes += content.count(b'"')
        return content

    def close(self) -> None:
        self._file.close()
        super().close()


def _open_csv(path: Path) -> DataFile:
    size = path.stat().st_size
    if not size:
        raise FileProblem("data file", str(path), "hold a header and data, and is empty")
    try:
        # cells that nobody asked for may be in any encoding
        with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as stream:
            header = next(csv.reader(stream, strict=True), [])
            has_rows = bool(stream.read(1))
        "".join(header).encode()
    except (csv.Error, UnicodeEncodeError):
        raise FileProblem("data file", str(path), "begin with a line of column names in UTF-8") from None
    if not has_rows:
        raise FileProblem("data file", str(path), "hold at least one row of data")
    names = tuple(name.strip() for name in header)
    blocks = 0

    def read(columns: Sequence[str]) -> Iterator[Any]:
        nonlocal blocks
        wanted = {header[names.index(column)]: column for column in columns}
        for batch in _csv_batches(path, list(wanted), alone=len(names) == 1):
            blocks += 1  # each is a batch
            yield batch.rename_columns(list(wanted.values()))

    def rows_in_all(done: int) -> int:
        return max(done, round(done * size / (max(blocks, 1) * _BLOCK)))

    return DataFile(str(path), path, names, read, written, rows_in_all, hint=_hint(names))


def _hint(names: tuple[str, ...]) -> str:
    """What looks wrong with the first line of a file, if anything does."""
    separator = next((mark for mark in ";\t|" if mark in names[0]), None) if len(names) == 1 else None
    if separator is not None:
        return f"separate the cells by commas, not by {separator!r}"
    if any(map(is_number, names)):
        return "the first line must hold the names of the columns, and has a number"
    return ""


def _csv_batches(path: Path, columns: list[str], *, alone: bool) -> Iterator[Any]:
    pa = arrow()
    from pyarrow.csv import ConvertOptions, ParseOptions, ReadOptions, open_csv

    source, misfits = _QuoteCounter(path), []

    def misfit(row: Any) -> str:
        misfits.append(row)
        return "error"

    try:
        with source:
            batches = open_csv(
                source,
                ReadOptions(use_threads=False, block_size=_BLOCK),  # one thread: misfits know their number
                # a row of one empty cell is an empty line, of more cells it cannot be
                ParseOptions(newlines_in_values=True, ignore_empty_lines=not alone, invalid_row_handler=misfit),
                ConvertOptions(
                    include_columns=columns,
                    column_types=dict.fromkeys(columns, pa.string()),
                    strings_can_be_null=False,
                ),
            )
            yield from batches
    except pa.ArrowInvalid as error:
        if misfits:
            row = misfits[0]
            rule = f"have {row.expected_columns} cells in every row, data row {row.number - 1} has {row.actual_columns}"
            step = "quote cells that hold commas, and write numbers with a point"
            raise FileProblem("data file", str(path), rule, step) from None
        rule = "be a CSV file in UTF-8" if "UTF" in str(error) else f"have rows shorter than {_BLOCK >> 20} MB"
        raise FileProblem("data file", str(path), rule, "was it cut short, or is a quote left open?") from None
    except OSError as error:
        raise _unreadable(path, error) from None
    if source.quotes % 2:
        rule = "close every quote: it has an odd number of them"
        raise FileProblem("data file", str(path), rule, "was it cut short?")


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _open_parquet(path: Path) -> DataFile:
    pa = arrow()
    from pyarrow.parquet import ParquetFile

    def opened() -> Any:
        try:
            return ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True)
        except pa.ArrowException:
            step = "was it cut short, or is it another format?"
            raise FileProblem("data file", str(path), "be a whole Parquet file", step) from None

    with opened() as source:
        schema, count = source.schema_arrow, source.metadata.num_rows
        groups = tuple(source.metadata.row_group(k).num_rows for k in range(source.num_row_groups))

    def read(columns: Sequence[str], which: range | None = None) -> Iterator[Any]:
        with opened() as source:
            try:
                rows = source.iter_batches(
                    _ROWS, columns=list(columns), row_groups=None if which is None else [*which], use_threads=True
                )
                for batch in rows:
                    yield batch.select(list(columns))
            except (pa.ArrowException, OSError) as error:
                reason = str(error).partition("\n")[0]
                raise FileProblem("data file", str(path), f"be a whole Parquet file: {reason}") from None

    said = {
        key.decode(errors="replace"): text.decode(errors="replace") for key, text in (schema.metadata or {}).items()
    }
    return DataFile(
        str(path), path, tuple(schema.names), read, typed, lambda _: count, said, groups=groups, read_groups=read
    )


# -- Polars ------------------------------------------------------------------------------------------------------------


def of_lazy(frame: Any) -> DataFile:
    """The rows a lazy Polars frame gives, by its streaming engine and in its order."""
    from polars.exceptions import PolarsError

    name = "the lazy frame"

    def failed(error: Exception) -> FileProblem:
        reason = str(error).strip().partition("\n")[0]
        return FileProblem("data", name, f"give its rows: {reason}", "collect it to see what is wrong")

    def read(columns: Sequence[str]) -> Iterator[Any]:
        try:
            for batch in frame.select(list(columns)).collect_batches(chunk_size=_ROWS, maintain_order=True):
                yield from batch.to_arrow().to_batches()
        except (PolarsError, OSError) as error:
            raise failed(error) from None

    try:
        names = tuple(frame.collect_schema().names())
    except (PolarsError, OSError) as error:
        raise failed(error) from None
    return DataFile(name, None, names, read, typed, lambda done: done)


# -- writing -----------------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def batch_writer(stream: BinaryIO, form: str, schema: Any) -> Iterator[Any]:
    """Takes Arrow batches of one schema to a stream; of the schema's metadata only Parquet keeps record."""
    pa = arrow()
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    try:
        writer = ParquetWriter(stream, schema, compression="zstd") if form == ".parquet" else CSVWriter(stream, schema)
    except pa.ArrowException as error:
        reason = str(error).partition("\n")[0]
        raise InvalidInput("keep", schema.names, f"name columns {form} files can hold: {reason}") from None
    try:
        yield writer
    except BaseException:
        with contextlib.suppress(Exception):  # what went wrong first is what matters
            writer.close()
        raise
    writer.close()
