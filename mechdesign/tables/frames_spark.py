"""Reports of a Spark frame, drawn on its executors and written as Parquet: what Spark commits is published once."""

from __future__ import annotations

import re
import shutil
import uuid
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from mechdesign.data.columns import require_columns, typed
from mechdesign.data.sources import open_data
from mechdesign.errors import FileProblem, InvalidInput, sealed, unusable_extra
from mechdesign.tables.frames_columns import are_texts, to_arrow
from mechdesign.tables.frames_files import require_data
from mechdesign.tables.frames_parts import Source
from mechdesign.tables.manifest import Manifest, Part, require_new
from mechdesign.tables.misfits import REFUSE, Misfits, OnBad, drawn, replaced
from mechdesign.tables.table import Table

_SAID = re.compile(r"mechdesign\.errors\.\w+: (.*)")


@sealed
def apply_spark(
    table: Table,
    frame: Any,
    column: str,
    out: Path | str,
    *,
    keep: Sequence[str] = (),
    misfits: Misfits = REFUSE,
) -> None:
    """Write the reports of one column of a Spark frame to a new folder of Parquet files, with its ``_manifest.json``.

    *Guarantee.* Each row's report is published once. Spark may run a task twice, when an executor is lost or slow: its
    committer keeps the files of one attempt and nobody sees the others. The folder appears by one rename, when all of
    them are there, and a job that fails leaves none. That holds for this function, which writes; a frame of reports
    that is computed again with every action would draw again with every action, so none is returned. A frame that is
    read from such a folder is refused: it holds reports.

    Executors need this package. ``out`` is a folder that they and this process can write to, not a URL.
    """
    sql, target = _spark(), Path(out)
    misfits.require(table)
    require_columns([column, *keep], list(frame.columns), "the Spark frame")
    _require_new(target, str(out))
    for file in map(_local, frame.inputFiles()):
        if file is not None and file.is_file():
            require_data(Source(open_data(file), column), [])
    data = frame.select(*[name for name in frame.columns if name == column or name in keep])
    types = sql.types
    told = types.StringType() if are_texts(table) else types.DoubleType()
    schema = types.StructType(
        [types.StructField(field.name, told if field.name == column else field.dataType) for field in data.schema]
    )
    reports = data.mapInPandas(_drawing(table, column, misfits), schema)
    work = target.absolute().parent / f".{target.name}.{uuid.uuid4().hex}.tmp"
    try:
        _write(reports, work)
        parts = _parts(work, 0 if misfits.on_bad is OnBad.REFUSE else None)
        Manifest(table.sha256, table.epsilon, column, tuple(keep), misfits.on_bad, parts).write(work)
        _require_new(target, str(out))
        work.rename(target)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _require_new(target: Path, said: str) -> None:
    if "://" in said:
        step = "write to a folder that executors and this process share, and copy it"
        raise FileProblem("output folder", said, "be a folder of this machine, whose manifest is written here", step)
    require_new(target)


def _local(address: str) -> Path | None:
    """The file of an address as Spark tells it, if it is one of this machine."""
    parts = urlsplit(address)
    return Path(unquote(parts.path)) if parts.scheme in ("", "file") else None


def _write(reports: Any, work: Path) -> None:
    failed = import_module("pyspark.errors").PythonException
    try:
        reports.write.parquet(work.as_uri())
    except failed as error:
        said = _SAID.findall(str(error))
        if not said:
            raise
        failure = InvalidInput("data", "a Spark frame", f"fit the table: {said[-1]}")
    else:
        return
    raise failure


def _parts(work: Path, bad: int | None) -> tuple[Part, ...]:
    """The files that Spark wrote, under the names that parts have, and nothing else that it left."""
    parquet = import_module("pyarrow.parquet")
    parts: list[Part] = []
    for file in sorted(work.iterdir()):
        if file.suffix != ".parquet":
            file.unlink()
            continue
        path = file.rename(work / f"part-{len(parts):06}.parquet")
        parts.append(Part.of(path, "a Spark frame", parquet.read_metadata(path).num_rows, bad))
    return tuple(parts)


def _drawing(table: Table, column: str, misfits: Misfits) -> Any:
    """What executors run on the batches of a partition."""

    def draw(batches: Iterator[Any]) -> Iterator[Any]:
        before = 0
        for batch in batches:
            place = f"a partition, column {column!r}"
            yield replaced(batch, column, drawn(table, to_arrow(batch[column]), typed, place, before, misfits))
            before += len(batch)

    return draw


def _spark() -> Any:
    try:
        return import_module("pyspark.sql")
    except ImportError as error:
        raise unusable_extra("reports of Spark frames", "spark", error) from None
