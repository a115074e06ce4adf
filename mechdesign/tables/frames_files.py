"""Reports of a column of a file, written batch by batch in constant memory, and estimates from such files."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from mechdesign.data.columns import arrow, is_text, require_columns, use_numbers
from mechdesign.data.sources import (
    Progress,
    form_of,
    is_many,
    of_lazy,
    open_data,
    open_unnamed,
    require_only_column,
)
from mechdesign.engine import Engine
from mechdesign.errors import FileProblem, InvalidData, InvalidInput, sealed
from mechdesign.tables.estimators import Estimate, Tally, merged, require_quantity
from mechdesign.tables.frames_columns import are_texts, is_lazy, require_labels, tallied
from mechdesign.tables.frames_parts import Part, Refused, Source, counted, parts_of, require_some
from mechdesign.tables.kinds import Spread
from mechdesign.tables.manifest import report_files, reported_column
from mechdesign.tables.misfits import REFUSE, Drawn, Misfits, OnBad, drawn, refused, unfitting
from mechdesign.tables.origin import Origin
from mechdesign.tables.table import Table
from mechdesign.values import files
from mechdesign.values.declare import Counts, Floats, frozen

_SHA256, _COLUMN, _EPSILON = "mechdesign.table.sha256", "mechdesign.column", "mechdesign.epsilon"
_DEVICE = "mechdesign.device.sha256"


@frozen
class Applied:
    """A file or folder of reports that was written: ``rows`` of them, after ``bad`` rows of data that did not fit."""

    path: Path
    rows: int
    column: str
    kept: tuple[str, ...]
    bad: int = 0


@sealed
def apply_table(
    table: Table,
    source: Any,
    column: str | None,
    out: Path | str,
    *,
    keep: Sequence[str] = (),
    misfits: Misfits = REFUSE,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Applied:
    """Write the reports of one column of a file, row by row in the same order, in constant memory.

    The data are a CSV or Parquet file, or whatever a lazy Polars frame scans (of which nobody knows whether it holds
    reports already, or is the file ``out``); the reports go to CSV or Parquet.

    The reports take the column's name, which need not be given if it is the only one; what a CSV file without a header
    calls it is in `mechdesign.data.headers`. The file of reports can be read by whom the data's file can be read, at
    most. All other columns are dropped but those to ``keep``, which go out as they are.
    Parquet output names the table and the column in its metadata. An unreadable file is an error and leaves no file.
    So is, unless ``misfits`` say otherwise, any value outside the domain or a missing one: the error names the first
    such data row (from 1, without a header) and counts them all.
    """
    form = form_of(Path(out), "output file")
    misfits.require(table)
    rows = opened(source, column, table.labels.inputs)
    require_data(rows, keep)
    data = rows.data
    with contextlib.suppress(OSError):
        if data.path is not None and Path(out).exists() and Path(out).samefile(data.path):
            raise FileProblem("output file", str(out), "differ from the data file", "the data is never overwritten")
    files.require_writable(out, overwrite=overwrite)
    with files.replacing(out, overwrite=overwrite, like=data.path) as stream:
        try:
            written, bad = write_reports(stream, form, table, rows, keep, misfits, progress)
        except Refused as error:
            raise refused(error.error, error.bad, error.rows) from None
        require_some(written, bad, data.name)
    return Applied(Path(out), written, rows.column, tuple(keep), bad)


def require_data(source: Source, keep: Sequence[str]) -> None:
    """Columns that are there, once each, and hold data."""
    data, column = source.data, source.column
    columns = [column, *keep]
    require_columns(columns, data.names, data.name, data.hint)
    if len(set(columns)) < len(columns):
        raise InvalidInput("keep", list(keep), f"name each column once, and not {column!r}: its reports are kept")
    if column in (data.metadata.get(_COLUMN), None if data.path is None else reported_column(data.path)):
        rule = f"hold data in {column!r}, and holds reports"
        raise FileProblem("data file", data.name, rule, "apply the table to the data they were drawn from")


def write_reports(
    stream: BinaryIO,
    form: str,
    table: Table,
    source: Source,
    keep: Sequence[str],
    misfits: Misfits,
    progress: Progress | None = None,
) -> tuple[int, int]:
    """Reports of all rows of the source, and how many: written, and rows that did not fit.

    Under ``refuse`` rows that do not fit are `Refused`.
    """
    bad = written = 0
    column, reading = source.column, source.data.reading
    with contextlib.ExitStack() as opened:
        writer, told = None, source.batches(keep, progress)
        for read, batch in told:
            try:
                found = drawn(table, batch.column(column), reading, source.place, read, misfits)
            except InvalidData as error:
                raise _counted(error, table, source, chain([(read, batch)], told)) from None
            rows = _with_reports(batch, column, found, table, misfits)
            varied = [column] if isinstance(table.law, Spread) else []
            writer = writer or opened.enter_context(batch_writer(stream, form, rows.schema, varied))
            writer.write_batch(rows)
            bad, written = bad + found.bad, written + rows.num_rows
    return written, bad


def _counted(
    error: InvalidData, table: Table, source: Source, told: Iterator[tuple[int, Any]]
) -> Refused | InvalidData:
    """The error with the number of rows that do not fit; as it is if what follows cannot all be read."""
    bad = rows = 0
    try:
        for read, batch in told:
            bad += int(unfitting(table, batch.column(source.column), source.data.reading, source.place).sum())
            rows = read + batch.num_rows - (0 if source.part is None else source.part.before)
    except InvalidInput:
        return error
    return Refused(error, bad, rows)


@sealed
def estimate_reports(
    origin: Table | Origin,
    source: Any,
    column: str | None = None,
    confidence: float = 0.95,
    *,
    of: str | None = None,
    progress: Progress | None = None,
    engine: Engine | None = None,
    codes: bool = False,
    skip_empty: bool = False,
) -> Estimate:
    """`estimate` from a file with progress; the column may be left out where there is one, or the file names it.

    An ``engine`` (of `mechdesign.engine`) counts the row groups of a Parquet file that all its workers can see
    under the same name. The answer is the same to the last bit. The reports may also be all files of a folder, or of a
    pattern of names. With ``skip_empty`` reports that are empty are left out: the answer is about the others. Reports
    of a device are estimated by its `Origin`.
    """
    require_quantity(of)
    from_ = origin if isinstance(origin, Origin) else Origin(origin)
    require_labels(from_.table, codes)
    return tally_data(from_, source, column, progress, codes, engine, skip_empty).estimate(confidence, of)


def cells_of_reports(
    table: Table,
    source: Any,
    column: str | None,
    edges: Floats,
    progress: Progress | None = None,
    skip_empty: bool = False,
) -> Counts:
    """How many reports lie in each cell ``(edges[k], edges[k + 1]]``, the outer cells without end."""
    origin = Origin(table)
    tally, counts = Tally(origin), np.zeros(edges.size - 1, dtype=np.int64)

    def add(reports: Floats) -> None:
        tally.add_codes(reports)  # refuses what the table cannot give
        counts[:] += np.bincount(np.searchsorted(edges[1:-1], reports), minlength=counts.size)

    for of in _reports(source, column, origin):
        for before, batch in of.batches(progress=progress):
            place, reports = _reported(batch, of, skip_empty)
            use_numbers(reports, of.data.reading, add, place, before, "were these numbers drawn from this table?")
    require_some(tally.count, 0, str(source))
    return counts


def _with_reports(batch: Any, column: str, found: Drawn, table: Table, misfits: Misfits) -> Any:
    pa = arrow()
    form = pa.float64() if found.reports.dtype.kind == "f" else pa.string()
    rows = batch if found.kept is None else batch.filter(pa.array(found.kept))
    place, is_open = batch.schema.get_field_index(column), misfits.on_bad is OnBad.NULL
    told = rows.set_column(place, pa.field(column, form, nullable=is_open), pa.array(found.reports, form, found.wrong))
    return told.replace_schema_metadata(_said(table, column))


def _said(table: Table, column: str) -> dict[str, str]:
    """What Parquet files of reports say of themselves."""
    return {_SHA256: table.sha256, _COLUMN: column, _EPSILON: str(table.epsilon)}


def reports_schema(table: Table, column: str, device: str | None = None) -> Any:
    """The Arrow schema of files that hold nothing but reports of a table, or of a device that reports by it."""
    pa = arrow()
    form = pa.string() if are_texts(table) else pa.float64()
    said = _said(table, column) | ({} if device is None else {_DEVICE: device})
    return pa.schema([pa.field(column, form, nullable=False)], said)


def opened(source: Any, column: str | None, items: Sequence[str] | None) -> Source:
    """Data of numbers, or of these items: a path, or a lazy Polars frame, and the column that is asked for."""
    if is_lazy(source):
        data = of_lazy(source)
    elif not isinstance(source, str | Path):
        step = "tables.apply(table, values) and tables.estimate(table, reports) take arrays and frames"
        raise InvalidInput("source", source, "be a file, or a lazy Polars frame", step)
    else:
        data = open_data(source) if column is not None else open_unnamed(source, items)
    name = column if column is not None else data.metadata.get(_COLUMN)
    if name is None:
        require_only_column(data)
        name = data.names[0]
    require_columns([name], data.names, data.name, data.hint)
    return Source(data, name)


def tally_data(
    origin: Origin,
    source: Any,
    column: str | None,
    progress: Progress | None,
    codes: bool,
    engine: Engine | None = None,
    skip_empty: bool = False,
) -> Tally:
    """Of a folder or a pattern an engine counts in parts what it can; one file that has none is refused."""
    found = _reports(source, column, origin)
    in_parts = [of for of in found if engine is not None and (of.data.read_groups or not is_many(source))]
    parts = [part for of in in_parts for part in parts_of(of)]
    if engine is not None and not is_many(source):
        require_some(len(parts), 0, found[0].data.name)
    count = partial(_tally, origin=origin, codes=codes, skip_empty=skip_empty)
    counts = [] if engine is None else counted(engine, partial(_tally_part, count=count), parts, progress)
    counts += [count(of, progress=progress) for of in found if of not in in_parts]
    return merged(origin, *counts)


def _reports(source: Any, column: str | None, origin: Origin) -> list[Source]:
    """Reports of this origin, a source a file."""
    if not is_many(source):
        return [_report_file(source, column, origin)]
    paths, named = report_files(source, origin.table)
    return [_report_file(path, column or named, origin) for path in paths]


def _report_file(source: Any, column: str | None, origin: Origin) -> Source:
    table = origin.table
    found = opened(source, column, table.labels.outputs)
    data, name = found.data, found.column
    device = data.metadata.get(_DEVICE)
    if device is not None and device != origin.device:
        rule = "be estimated by the device that made them"
        step = f"they are of the device {device[:12]}: estimate TABLE --device FILE [--again TABLE] --periods N"
        raise FileProblem("data file", data.name, rule, step)
    if data.metadata.get(_COLUMN) == name and data.metadata.get(_SHA256) != table.sha256:
        rule = f"hold reports of the table {table.sha256[:12]}..., and they are of another one"
        raise FileProblem("data file", data.name, rule, "pass the table the reports were drawn from")
    return found


def _tally_part(part: Part, count: Callable[[Source], Tally]) -> Tally:
    return count(Source(open_data(part.path), part.column, part))


def _tally(source: Source, origin: Origin, codes: bool, skip_empty: bool, progress: Progress | None = None) -> Tally:
    count, rows = Tally(origin), 0
    for before, batch in source.batches(progress=progress):
        place, column = _reported(batch, source, skip_empty)
        tallied(count, column, source.data.reading, place, codes, before)
        rows += batch.num_rows
    require_some(rows, 0, source.data.name)
    return count


def _reported(batch: Any, source: Source, skip_empty: bool) -> tuple[str, Any]:
    """Where reports stand, in words, and the reports."""
    if skip_empty:
        return f"{source.place}, without its empty rows", _filled(batch.column(source.column))
    return source.place, batch.column(source.column)


def _filled(column: Any) -> Any:
    """The rows of a column that are not empty."""
    from pyarrow import compute

    filled = compute.not_equal(column, "") if is_text(column) else column.is_valid()
    return column.filter(filled, null_selection_behavior="drop")


@contextlib.contextmanager
def batch_writer(stream: BinaryIO, form: str, schema: Any, varied: Sequence[str] = ()) -> Iterator[Any]:
    """Takes Arrow batches of one schema to a stream; of the schema's metadata only Parquet keeps record.

    Of columns that are ``varied`` nearly no two values are alike: a dictionary of them would cost time and space.
    """
    pa = arrow()
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    try:
        if form == ".parquet":
            alike = [name for name in schema.names if name not in varied] if varied else True
            writer = ParquetWriter(stream, schema, compression="zstd", use_dictionary=alike)
        else:
            writer = CSVWriter(stream, schema)
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
