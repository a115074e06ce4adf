"""Reports of a Spark frame, drawn on its executors and written as Parquet: what Spark commits is published once."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from mechdesign.data.columns import require_columns, typed
from mechdesign.deploy.frames_columns import are_texts, to_arrow
from mechdesign.deploy.misfits import REFUSE, Misfits, drawn, replaced
from mechdesign.deploy.table import Table
from mechdesign.errors import FileProblem, InvalidInput, sealed, unusable_extra

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
    """Write the reports of one column of a Spark frame to a new folder of Parquet files.

    *Guarantee.* Each row's report is published once. Spark may run a task twice, when an executor is lost or slow: its
    committer keeps the files of one attempt and nobody sees the others. That holds for this function, which writes; a
    frame of reports that is computed again with every action would draw again with every action, so none is returned.

    Executors need this package. ``out`` is a folder they can all write to; it must not exist.
    """
    sql = _spark()
    misfits.require(table)
    require_columns([column, *keep], list(frame.columns), "the Spark frame")
    if Path(out).exists():
        raise FileProblem("output folder", str(out), "not exist yet", "reports that are there are never replaced")
    data = frame.select(*[name for name in frame.columns if name == column or name in keep])
    types = sql.types
    told = types.StringType() if are_texts(table) else types.DoubleType()
    schema = types.StructType(
        [types.StructField(field.name, told if field.name == column else field.dataType) for field in data.schema]
    )
    reports = data.mapInPandas(_drawing(table, column, misfits), schema)
    try:
        reports.write.mode("errorifexists").parquet(str(out))
    except import_module("pyspark.errors").PythonException as error:
        said = _SAID.findall(str(error))
        if not said:
            raise
        failure = InvalidInput("data", "a Spark frame", f"fit the table: {said[-1]}", f"remove {out} and start anew")
    else:
        return
    raise failure


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
