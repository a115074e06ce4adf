"""Reports of whole columns, and estimates from them: files in constant memory, and data frames.

*Guarantee.* Each row's report is one draw from the table with the operating system's randomness. Privacy holds for
the report, not for what stands beside it: only the named column and the columns to keep go out, and the latter go
out as they are. A second report of the same value spends epsilon again: apply once, and share that one result.

Where a table has labels (`Table.labels`), data hold labels and reports are labels. Numbers are then read by the label
that writes them. Only `estimate` and `tally` take codes, the numbers in the table's file, and only with ``codes=True``.
"""

from __future__ import annotations

import contextlib
import threading
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.data.columns import Reading, arrow, require_columns, typed, use_numbers
from mechdesign.data.sources import (
    DataFile,
    Progress,
    form_of,
    of_lazy,
    open_data,
    open_unnamed,
    require_only_column,
)
from mechdesign.deploy.estimators import DirectionEstimate, FrequencyEstimate, MeanEstimate, Tally
from mechdesign.deploy.frames_columns import named
from mechdesign.deploy.frames_files import batch_writer
from mechdesign.deploy.frames_parts import Part, counted, parts_of
from mechdesign.deploy.sampler import sample, sample_codes
from mechdesign.deploy.table import Table
from mechdesign.domains import Circle, Finite
from mechdesign.engine import Engine
from mechdesign.errors import FileProblem, InvalidInput, sealed, unusable_extra
from mechdesign.values import files

Floats = NDArray[np.float64]
Estimate = MeanEstimate | FrequencyEstimate | DirectionEstimate
Source = Any  # a path, or a lazy Polars frame

QUANTITIES = ("mean", "frequencies", "direction")
_FRAME = "the data frame"
_SHA256, _COLUMN, _EPSILON = "mechdesign.table.sha256", "mechdesign.column", "mechdesign.epsilon"


@dataclass(frozen=True, slots=True)
class Applied:
    """A file of reports that was written."""

    path: Path
    rows: int
    column: str
    kept: tuple[str, ...]


@sealed
def apply(
    table: Table,
    data: Any,
    column: str | None = None,
    out: Path | str | None = None,
    *,
    keep: Sequence[str] = (),
    overwrite: bool = False,
) -> Any:
    """Reports of numbers, or of one column of a file or of a data frame (pandas, Polars, Dask).

    The answer is of the same kind as ``data``: only ``column`` and the columns to ``keep``, unprotected, are in it, not
    the index of a pandas or Dask frame. A file needs the name ``out`` of another, see `apply_table`; a lazy Polars
    frame may have one, and then streams to it in constant memory. All but Dask frames (`apply_dask`) are drawn at once:
    what a lazy Polars frame gives later, any number of times, is what was drawn here.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> apply(make_table(duchi(1.0)), np.array([-1.0, 0.2, 1.0])).shape
    (3,)
    """
    kind = _kind(data)
    if kind == "numbers":
        if column is not None or keep:
            raise InvalidInput("column", column, "be left out: an array of numbers has no columns")
    elif column is None and out is None:
        raise InvalidInput("column", None, "name a column of the data")
    if (kind == "path") != (out is not None) and not _is_lazy(data):
        rule = "be given with a file, and only then"
        raise InvalidInput("out", out, rule, "it names the file of reports; other data are returned")
    if kind == "numbers":
        return sample(table, data)
    if out is not None:
        return apply_table(table, data, column, out, keep=keep, overwrite=overwrite)
    assert column is not None
    return {"dask": apply_dask, "polars": _apply_polars, "pandas": _apply_pandas}[kind](table, data, column, keep)


@sealed
def estimate(
    table: Table,
    data: Any,
    column: str | None = None,
    confidence: float = 0.95,
    *,
    of: str | None = None,
    codes: bool = False,
) -> Estimate:
    """The estimate that reports allow, with its interval: from numbers, a file, or a column of a data frame.

    ``of`` is one of `QUANTITIES`: by default the direction on a circle, frequencies where inputs have labels, else the
    mean. See `Tally` for what they cover. ``codes`` says that a sampler which knows no labels gave the reports of a
    labelled table: they are numbers of its file.

    >>> from mechdesign.deploy import make_table
    >>> from mechdesign.mechanisms.catalogue import pm
    >>> table = make_table(pm(1.0))
    >>> found = estimate(table, apply(table, np.full(10_000, 0.5)), confidence=0.999999)
    >>> found.lower < 0.5 < found.upper
    True
    """
    _require_quantity(of)
    return _estimated(tally(table, data, column, codes=codes), table, confidence, of)


@sealed
def tally(table: Table, data: Any, column: str | None = None, *, codes: bool = False) -> Tally:
    """What estimates need to know of reports; the tallies of several data sets can be merged."""
    _require_labels(table, codes)
    kind = _kind(data)
    if kind == "numbers":
        return Tally(table).add_codes(data) if codes else Tally(table).add(data)
    if kind == "path" or _is_lazy(data):
        return _tally_file(table, data, column, None, codes)
    if column is None:
        raise InvalidInput("column", None, "name a column of the data")
    if kind == "dask":
        return _tally_dask(table, data, column, codes)
    require_columns([column], _names(data), _FRAME)
    return _tallied(Tally(table), _to_arrow(data[column]), typed, f"column {column!r}", codes)


def _require_labels(table: Table, codes: bool) -> None:
    if codes and table.labels.outputs is None:
        raise InvalidInput("codes", codes, "be left out: this table has no labels, its reports are numbers")


def _tallied(count: Tally, column: Any, reading: Reading, place: str, codes: bool, before: int = 0) -> Tally:
    names = None if codes else count.table.output_names
    read = named(names, reading, "write the labels, or say that the reports are codes: --codes, codes=True")
    return use_numbers(column, read, count.add_codes, place, before, "were these numbers drawn from this table?")


def _kind(data: Any) -> str:
    if isinstance(data, str | Path):
        return "path"
    root = type(data).__module__.partition(".")[0]
    return root if root in ("dask", "polars", "pandas") and hasattr(type(data), "columns") else "numbers"


def _is_lazy(data: Any) -> bool:
    """Whether it is a lazy frame of Polars."""
    return _kind(data) == "polars" and hasattr(data, "collect")


def _names(frame: Any) -> list[str]:
    return list(frame.collect_schema().names()) if hasattr(frame, "collect_schema") else [*frame.columns]


# -- files -------------------------------------------------------------------------------------------------------------


@sealed
def apply_table(
    table: Table,
    source: Source,
    column: str | None,
    out: Path | str,
    *,
    keep: Sequence[str] = (),
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Write the reports of one column of a file, row by row in the same order, in constant memory.

    The data are a CSV or Parquet file, or whatever a lazy Polars frame scans (of which nobody knows whether it holds
    reports already, or is the file ``out``); the reports go to CSV or Parquet.

    The reports take the column's name, which need not be given if it is the only one; what a CSV file without a header
    calls it is in `mechdesign.data.headers`. The file of reports can be read by whom the data's file can be read, at
    most. All other columns are dropped but those to ``keep``, which go out as they are.
    Parquet output names the table and the column in its metadata. Any value outside the domain, a missing one or an
    unreadable file is an error that names the data row (from 1, without a header), and leaves no file.
    """
    form = form_of(Path(out), "output file")
    data, column = _opened(source, column, table.labels.inputs)
    columns = [column, *keep]
    require_columns(columns, data.names, data.name, data.hint)
    if len(set(columns)) < len(columns):
        raise InvalidInput("keep", list(keep), f"name each column once, and not {column!r}: its reports are kept")
    if data.metadata.get(_COLUMN) == column:
        rule = f"hold data in {column!r}, and holds reports"
        raise FileProblem("data file", data.name, rule, "apply the table to the data they were drawn from")
    with contextlib.suppress(OSError):
        if data.path is not None and Path(out).exists() and Path(out).samefile(data.path):
            raise FileProblem("output file", str(out), "differ from the data file", "the data is never overwritten")
    rows = 0
    files.require_writable(out, overwrite=overwrite)
    with files.replacing(out, overwrite=overwrite, like=data.path) as stream, contextlib.ExitStack() as opened:
        writer = None
        for batch in _batches(data, [name for name in data.names if name in columns]):
            reports = _drawn_from(table, batch.column(column), data.reading, _place(data, column), rows)
            told = _with_reports(batch, column, reports, table)
            writer = writer or opened.enter_context(batch_writer(stream, form, told.schema))
            writer.write_batch(told)
            rows += batch.num_rows
            if progress is not None:
                progress(rows, data.rows_in_all(rows))
        _require_rows(rows, data)
        if progress is not None:
            progress(rows, rows)
    return Applied(Path(out), rows, column, tuple(keep))


@sealed
def estimate_reports(
    table: Table,
    source: Source,
    column: str | None = None,
    confidence: float = 0.95,
    *,
    of: str | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    codes: bool = False,
) -> Estimate:
    """`estimate` from a file with progress; the column may be left out where there is one, or the file names it.

    An ``engine`` (of `mechdesign.engine`) counts the row groups of a Parquet file that all its workers can see
    under the same name. The answer is the same to the last bit.
    """
    _require_quantity(of)
    _require_labels(table, codes)
    return _estimated(_tally_file(table, source, column, progress, codes, engine), table, confidence, of)


def _drawn_from(table: Table, column: Any, reading: Reading, place: str, before: int = 0) -> NDArray[Any]:
    """Reports, as numbers or as labels."""
    hint = "correct such rows, or make a table for a domain that holds them"
    if isinstance(table.domain, Finite):
        hint += f": this one is for {table.domain}"
    read = named(table.input_names, reading, "write the labels: numbers are not taken for their codes")
    return _told(table, use_numbers(column, read, partial(sample_codes, table), place, before, hint))


def _told(table: Table, reports: Floats) -> NDArray[Any]:
    names = table.output_names
    return reports if names is None else names.labels(reports)


def _batches(data: DataFile, columns: Sequence[str]) -> Any:
    return (batch for batch in data.read(columns) if batch.num_rows)


def _place(data: DataFile, column: str) -> str:
    return f"{data.name}, column {column!r}"


def _with_reports(batch: Any, column: str, reports: NDArray[Any], table: Table) -> Any:
    pa = arrow()
    form = pa.float64() if reports.dtype.kind == "f" else pa.string()
    place = batch.schema.get_field_index(column)
    told = batch.set_column(place, pa.field(column, form, nullable=False), pa.array(reports, form))
    said = {_SHA256: table.sha256, _COLUMN: column, _EPSILON: str(table.epsilon)}
    return told.replace_schema_metadata(said)


def _opened(source: Source, column: str | None, items: Sequence[str] | None) -> tuple[DataFile, str]:
    """Data of numbers, or of these items, and the column that is asked for."""
    if _is_lazy(source):
        data = of_lazy(source)
    else:
        data = open_data(source) if column is not None else open_unnamed(source, items)
    name = column if column is not None else data.metadata.get(_COLUMN)
    if name is None:
        require_only_column(data)
        name = data.names[0]
    require_columns([name], data.names, data.name, data.hint)
    return data, name


def _tally_file(
    table: Table,
    source: Source,
    column: str | None,
    progress: Progress | None,
    codes: bool,
    engine: Engine | None = None,
) -> Tally:
    data, name = _opened(source, column, table.labels.outputs)
    if data.metadata.get(_COLUMN) == name and data.metadata.get(_SHA256) != table.sha256:
        rule = f"hold reports of the table {table.sha256[:12]}..., and they are of another one"
        raise FileProblem("data file", data.name, rule, "pass the table the reports were drawn from")
    if engine is not None:
        parts = parts_of(data, table, name)
        _require_rows(len(parts), data)
        return _merged(table, *counted(engine, partial(_tally_part, codes=codes), parts, progress))
    count, rows = Tally(table), 0
    for batch in _batches(data, [name]):
        _tallied(count, batch.column(name), data.reading, _place(data, name), codes, rows)
        rows += batch.num_rows
        if progress is not None:
            progress(rows, data.rows_in_all(rows))
    _require_rows(rows, data)
    if progress is not None:
        progress(rows, rows)
    return count


def _tally_part(part: Part, codes: bool) -> Tally:
    data, count, rows = open_data(part.path), Tally(part.table), part.before
    assert data.read_groups is not None
    for batch in data.read_groups([part.column], range(part.first, part.stop)):
        _tallied(count, batch.column(part.column), data.reading, _place(data, part.column), codes, rows)
        rows += batch.num_rows
    return count


def _require_rows(rows: int, data: DataFile) -> None:
    if not rows:
        raise FileProblem("data file", data.name, "hold at least one row of data")


def _require_quantity(of: str | None) -> None:
    if of is not None and of not in QUANTITIES:
        raise InvalidInput("of", of, f"be one of {', '.join(QUANTITIES)}")


def _estimated(count: Tally, table: Table, confidence: float, of: str | None) -> Estimate:
    usual = "frequencies" if table.labels.inputs is not None else "mean"
    wanted = of or ("direction" if isinstance(table.domain, Circle) else usual)
    found: Estimate = getattr(count, wanted)(confidence)
    return found


# -- data frames -------------------------------------------------------------------------------------------------------


def _to_arrow(column: Any) -> Any:
    """A column of pandas or Polars; the NaN of pandas is a missing value."""
    pa = arrow()
    rule = "be a column of numbers, or of texts for a table with labels"
    try:
        if hasattr(column, "to_arrow"):
            return column.to_arrow()
        if column.dtype == object and any(isinstance(value, bool | np.bool_) for value in column):
            raise pa.ArrowInvalid("truth values are no numbers")
        return pa.array(column, from_pandas=True)
    except (pa.ArrowException, OverflowError):
        step = "cast it to 64-bit floats: it mixes several types, or has one of its own"
        raise InvalidInput(f"column {column.name!r}", str(column.dtype), rule, step) from None


def _wanted(names: Sequence[str], column: str, keep: Sequence[str]) -> list[str]:
    require_columns([column, *keep], names, _FRAME)
    return [name for name in names if name == column or name in keep]


def _reports(table: Table, values: Any, place: str) -> NDArray[Any]:
    return _drawn_from(table, _to_arrow(values), typed, place)


def _apply_polars(table: Table, frame: Any, column: str, keep: Sequence[str]) -> Any:
    import polars as pl

    is_lazy = _is_lazy(frame)
    try:
        names = _wanted(_names(frame), column, keep)
        data = frame.select(names).collect() if is_lazy else frame.select(names)
    except pl.exceptions.PolarsError as error:  # in words that may quote the data
        rule = f"give its rows ({type(error).__name__})"
        raise InvalidInput("data", "a frame of Polars", rule, "collect it to see what is wrong") from None
    reports = _reports(table, data[column], f"column {column!r}")
    told = data.with_columns(pl.Series(column, reports if reports.dtype.kind == "f" else reports.tolist()))
    return told.lazy() if is_lazy else told


def _apply_pandas(table: Table, frame: Any, column: str, keep: Sequence[str]) -> Any:
    data = frame[_wanted(_names(frame), column, keep)]
    return _replaced(data, column, _reports(table, data[column], f"column {column!r}"))


def _replaced(frame: Any, column: str, values: NDArray[Any]) -> Any:
    """A pandas frame with another column, without its index and attributes, which nobody asked to keep."""
    told = frame.reset_index(drop=True)
    told.attrs = {}
    told[column] = values  # `assign` takes names that are words only
    return told if values.dtype.kind == "f" else told.astype({column: str})  # of no rows, as of any


_drawn: set[tuple[str, int]] = set()
_drawing = threading.Lock()


def apply_dask(table: Table, frame: Any, column: str, keep: Sequence[str] = ()) -> Any:
    """A lazy Dask frame of reports; partitions are drawn where they are computed, each from its system's randomness.

    **Compute it once.** Dask draws anew on every ``compute``, ``head`` or write, and two reports of a person spend
    epsilon twice. So ``persist()`` it or write it with ``to_parquet``, and go on from that. A process that is asked
    for a partition a second time refuses; over several processes nobody can, and a partition that a cluster lost is
    drawn again.
    """
    dask, dd = _dask()
    data = frame[_wanted(_names(frame), column, keep)]
    meta = _replaced(data._meta, column, _told(table, np.empty(0)))
    draw, token = dask.delayed(_draw_partition, pure=False), uuid.uuid4().hex
    parts = [draw(table, part, column, (token, number)) for number, part in enumerate(data.to_delayed())]
    return dd.from_delayed(parts, meta=meta)


@sealed
def _draw_partition(table: Table, part: Any, column: str, ticket: tuple[str, int]) -> Any:
    _, number = ticket
    with _drawing:
        if ticket in _drawn:
            rule = "be drawn once: computing again would give each person a second report and spend epsilon again"
            step = "keep the first result: apply(...).persist(), or write it with to_parquet and read that"
            raise InvalidInput("reports", f"partition {number}", rule, step)
        _drawn.add(ticket)
    try:
        reports = _reports(table, part[column], f"partition {number}, column {column!r}")
    except BaseException:
        with _drawing:
            _drawn.discard(ticket)
        raise
    return _replaced(part, column, reports)


def _tally_dask(table: Table, frame: Any, column: str, codes: bool) -> Tally:
    """A tally of each partition, merged in pairs."""
    dask, _ = _dask()
    require_columns([column], _names(frame), _FRAME)
    count = dask.delayed(_tally_partition, pure=False)
    merge = dask.delayed(_merged, pure=False)
    level = [count(table, part, column, number, codes) for number, part in enumerate(frame[column].to_delayed())]
    while len(level) > 1:
        level = [merge(table, *level[k : k + 2]) for k in range(0, len(level), 2)]
    total: Tally = dask.compute(level[0])[0]
    return total


@sealed
def _tally_partition(table: Table, part: Any, column: str, number: int, codes: bool) -> Tally:
    return _tallied(Tally(table), _to_arrow(part), typed, f"partition {number}, column {column!r}", codes)


def _merged(table: Table, *tallies: Tally) -> Tally:
    total = Tally(table)
    for count in tallies:
        total.merge(count)
    return total


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import dask.dataframe
    except ImportError as error:
        raise unusable_extra("reports of Dask frames", "data", error) from None
    return dask, dask.dataframe
