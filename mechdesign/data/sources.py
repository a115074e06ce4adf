"""CSV and Parquet files, and lazy frames, as Arrow batches: read in pieces, in constant memory.

PyArrow reads both: a CSV row with too many or too few cells is an error with its number, where other readers drop the
cells of columns that were not asked for, so that ``0,5`` would be read as 0.
"""

from __future__ import annotations

import csv
import errno
import glob
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import FileIO, RawIOBase
from pathlib import Path
from typing import Any

from mechdesign.data.columns import Reading, arrow, require_columns, typed, written
from mechdesign.data.headers import ONLY, may_be_name, tell_of_name
from mechdesign.data.text import names_hint
from mechdesign.errors import FileProblem, InvalidInput, listed
from mechdesign.values.declare import field, frozen

FORMS = (".csv", ".parquet")
_BLOCK = 2 * 2**20  # bytes of CSV: a row must fit, and some 32 blocks are read ahead
_ROWS = 1 << 18  # of Parquet

Progress = Callable[[int, int], None]
"""Told rows done and rows in all; of a CSV file the latter is an estimate from its bytes until all are done."""


@frozen
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
    metadata: Mapping[str, str] = field(factory=dict)
    hint: str = ""  # what may be wrong with the names
    groups: tuple[int, ...] = ()
    read_groups: Callable[[Sequence[str], range], Iterator[Any]] | None = None


def open_data(path: Path | str) -> DataFile:
    """A ``.csv`` file with a header or a ``.parquet`` file, or `FileProblem`."""
    target, form = _regular(path)
    try:
        if form == ".parquet":
            return _open_parquet(target)
        header, second = _first_lines(target)
        if second is None:
            raise FileProblem("data file", str(target), "hold at least one row of data")
        names = tuple(name.strip() for name in header)
        return _open_csv(target, names, header, is_named=True, hint=names_hint(names, second))
    except OSError as error:
        raise _unreadable(target, error) from None


def is_many(source: Any) -> bool:
    """Whether it names a folder of data files, or is a pattern such as ``day-*.csv``."""
    try:
        return isinstance(source, str | Path) and (
            Path(source).is_dir() or (glob.has_magic(str(source)) and not Path(source).exists())
        )
    except (OSError, ValueError):  # a name that is none
        return False


def data_files(source: Path | str) -> list[Path]:
    """The CSV and Parquet files of a folder or of a pattern, sorted by name; or the one file.

    Of a folder, files whose names begin with a point are left out, and so are those of other formats.
    """
    if not is_many(source):
        return [Path(source)]
    if Path(source).is_dir():
        found = [file for file in Path(source).iterdir() if not file.name.startswith(".") and _is_data(file)]
    else:  # a pattern may begin at the root, which `Path.glob` does not take
        found = [Path(name) for name in glob.glob(str(source), recursive=True) if _is_data(Path(name))]  # noqa: PTH207
    if not found:
        raise FileProblem("data", str(source), "hold at least one .csv or .parquet file")
    return sorted(found)


def _is_data(path: Path) -> bool:
    return path.suffix.lower() in FORMS and path.is_file()


def _regular(path: Path | str) -> tuple[Path, str]:
    """A regular file and its format: devices and pipes cannot be read in parts or twice."""
    target = Path(path)
    form = form_of(target, "data file")
    arrow()
    try:
        is_file, is_there = target.is_file(), target.exists()
    except OSError as error:
        raise _unreadable(target, error) from None
    except ValueError:  # a null character in the name
        raise FileProblem("data file", str(target), "be readable") from None
    if not is_file:
        raise FileProblem("data file", str(target), "be a file" if is_there else "exist")
    return target, form


def open_unnamed(path: Path | str, items: Sequence[str] | None = None) -> DataFile:
    """A file whose column nobody named: of numbers, or of these ``items``; CSV must have only one (`data.headers`)."""
    target, form = _regular(path)
    if form == ".parquet":
        return open_data(target)
    first, _ = _first_lines(target)
    if len(first) != 1:
        raise InvalidInput("column", None, f"be given: {path} has {len(first)} columns", "pass --column NAME")
    is_name = may_be_name(first[0], items)
    if is_name:
        tell_of_name(str(path), items=items is not None)
    # whatever the first line is, it may have been somebody's: nothing is called by it
    return _open_csv(target, (ONLY,), first if is_name else [ONLY], is_named=is_name)


def require_only_column(data: DataFile) -> None:
    """Refuse to choose among several columns."""
    if len(data.names) != 1:
        rule = f"be one of the columns of {data.name}: {listed(data.names) or 'it has none'}"
        raise InvalidInput("column", None, rule, "pass --column NAME")


def open_column(path: Path, column: str | None) -> tuple[DataFile, str]:
    """The same, and which of its columns to read: the named one, or the only one there is."""
    data = open_data(path)
    if column is None:
        require_only_column(data)
    name = data.names[0] if column is None else column
    require_columns([name], data.names, str(path))
    return data, name


def form_of(path: Path, what: str, forms: Sequence[str] = FORMS) -> str:
    """Which of these formats a file has, by its name."""
    form = path.suffix.lower()
    if form not in forms:
        known = f"{', '.join(forms[:-1])} or {forms[-1]}"
        raise FileProblem(what, str(path), f"end in {known}", "the end of the name says the format")
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


def _first_lines(path: Path) -> tuple[list[str], list[str] | None]:
    """The cells of the first line, and of the one below; none if there is nothing."""
    try:
        # cells that nobody asked for may be in any encoding
        with path.open(newline="", encoding="utf-8-sig", errors="surrogateescape") as stream:
            line = stream.readline(_BLOCK)
            first = next(csv.reader(itertools.chain([line], stream), strict=True), []) if len(line) < _BLOCK else []
            second = stream.readline(_BLOCK)
        "".join(first).encode()
    except OSError as error:
        raise _unreadable(path, error) from None
    except (csv.Error, UnicodeEncodeError):
        first = []
    if not first:
        if not path.stat().st_size:
            raise FileProblem("data file", str(path), "hold a header and data, and is empty")
        raise FileProblem("data file", str(path), "begin with a line of column names in UTF-8")
    return first, second.split(",") if second else None


def _open_csv(path: Path, names: tuple[str, ...], header: list[str], *, is_named: bool, hint: str = "") -> DataFile:
    """Columns of these names, which the first line calls by its ``header`` if it names them."""
    size, blocks = path.stat().st_size, 0

    def read(columns: Sequence[str]) -> Iterator[Any]:
        nonlocal blocks
        wanted = {header[names.index(column)]: column for column in columns}
        for batch in _csv_batches(path, list(wanted), None if is_named else header, alone=len(names) == 1):
            blocks += 1  # each is a batch
            yield batch.rename_columns(list(wanted.values()))

    def rows_in_all(done: int) -> int:
        return max(done, round(done * size / (max(blocks, 1) * _BLOCK)))

    return DataFile(str(path), path, names, read, written, rows_in_all, hint=hint)


def _csv_batches(path: Path, columns: list[str], header: list[str] | None, *, alone: bool) -> Iterator[Any]:
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
                # one thread: misfits know their number
                ReadOptions(use_threads=False, block_size=_BLOCK, column_names=header),
                # a row of one empty cell is an empty line, of more cells it cannot be
                ParseOptions(newlines_in_values=True, ignore_empty_lines=not alone, invalid_row_handler=misfit),
                ConvertOptions(
                    include_columns=columns,
                    column_types=dict.fromkeys(columns, pa.string()),
                    strings_can_be_null=False,
                ),
            )
            yield from batches
    except MemoryError:
        raise
    except pa.ArrowInvalid as error:
        if misfits:
            row = misfits[0]
            place = row.number - (header is None)
            rule = f"have {row.expected_columns} cells in every row, data row {place} has {row.actual_columns}"
            step = "quote cells that hold commas, and write numbers with a point"
            raise FileProblem("data file", str(path), rule, step) from None
        rule = "be a CSV file in UTF-8" if "UTF" in str(error) else f"have rows shorter than {_BLOCK >> 20} MB"
        raise FileProblem("data file", str(path), rule, "was it cut short, or is a quote left open?") from None
    except pa.ArrowException as error:
        _require_memory(error)
        raise
    except OSError as error:
        _require_memory(error)
        raise _unreadable(path, error) from None
    if source.quotes % 2:
        rule = "close every quote: it has an odd number of them"
        raise FileProblem("data file", str(path), rule, "was it cut short?")


# -- Parquet -----------------------------------------------------------------------------------------------------------


def _require_memory(error: Exception) -> None:
    """Raise what is no fault of the data."""
    if isinstance(error, MemoryError):
        raise error
    if "worker thread" in str(error) or getattr(error, "errno", None) in (errno.ENOMEM, errno.EAGAIN):
        raise MemoryError


def _open_parquet(path: Path) -> DataFile:
    pa = arrow()
    from pyarrow.parquet import ParquetFile

    def opened() -> Any:
        try:
            return ParquetFile(path, buffer_size=1 << 20, pre_buffer=False, page_checksum_verification=True)
        except (pa.ArrowException, OSError) as error:
            _require_memory(error)
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
                _require_memory(error)
                # its own words may quote what it read
                raise FileProblem("data file", str(path), "be a whole Parquet file", "was it cut short?") from None

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
        # its own words may quote what it read
        return FileProblem("data", name, f"give its rows ({type(error).__name__})", "collect it to see what is wrong")

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
