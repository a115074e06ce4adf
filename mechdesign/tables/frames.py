"""Reports of whole columns, and estimates from them: files in constant memory, and data frames.

*Guarantee.* Each row's report is one draw from the table with the operating system's randomness. Privacy holds for
the report, not for what stands beside it: only the named column and the columns to keep go out, and the latter go
out as they are. A second report of the same value spends epsilon again: apply once, and share that one result.

Where a table has labels (`Table.labels`), data hold labels and reports are labels. Numbers are then read by the label
that writes them. Only `estimate` and `tally` take codes, the numbers in the table's file, and only with ``codes=True``.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from mechdesign.data.columns import require_columns, typed
from mechdesign.errors import InvalidInput, sealed
from mechdesign.tables.estimators import QUANTITIES, Estimate, Tally, require_quantity
from mechdesign.tables.frames_columns import (
    FRAME,
    data_kind,
    is_lazy,
    require_labels,
    tallied,
    to_arrow,
    wanted,
)
from mechdesign.tables.frames_dask import apply_dask, tally_dask
from mechdesign.tables.frames_files import Applied, apply_table, estimate_reports, tally_data
from mechdesign.tables.frames_folder import apply_folder
from mechdesign.tables.misfits import REFUSE, Misfits, OnBad, drawn, replaced
from mechdesign.tables.origin import Origin
from mechdesign.tables.sampler import sample
from mechdesign.tables.table import Table

__all__ = [
    "QUANTITIES",
    "Applied",
    "Estimate",
    "Misfits",
    "OnBad",
    "apply",
    "apply_dask",
    "apply_folder",
    "apply_table",
    "estimate",
    "estimate_reports",
    "tally",
]


@sealed
def apply(
    table: Table,
    data: Any,
    column: str | None = None,
    out: Path | str | None = None,
    *,
    keep: Sequence[str] = (),
    misfits: Misfits = REFUSE,
    overwrite: bool = False,
) -> Any:
    """Reports of numbers, or of one column of a file or of a data frame (pandas, Polars, Dask).

    Rows that do not fit the table are refused, all together, unless ``misfits`` say what becomes of them.

    The answer is of the same kind as ``data``: only ``column`` and the columns to ``keep``, unprotected, are in it, not
    the index of a pandas or Dask frame. A file needs the name ``out`` of another, see `apply_table`; a lazy Polars
    frame may have one, and then streams to it in constant memory. All but Dask frames (`apply_dask`) are drawn at once:
    what a lazy Polars frame gives later, any number of times, is what was drawn here.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import duchi
    >>> import numpy as np
    >>> apply(make_table(duchi(1.0)), np.array([-1.0, 0.2, 1.0])).shape
    (3,)
    """
    kind = data_kind(data)
    if kind == "numbers":
        if column is not None or keep:
            raise InvalidInput("column", column, "be left out: an array of numbers has no columns")
        if misfits != REFUSE:
            raise InvalidInput("misfits", misfits, "be left out: an array of numbers has no rows to leave out")
    elif column is None and out is None:
        raise InvalidInput("column", None, "name a column of the data")
    if (kind == "path") != (out is not None) and not is_lazy(data):
        rule = "be given with a file, and only then"
        raise InvalidInput("out", out, rule, "it names the file of reports; other data are returned")
    if kind == "numbers":
        return sample(table, data)
    if out is not None:
        return apply_table(table, data, column, out, keep=keep, misfits=misfits, overwrite=overwrite)
    assert column is not None
    misfits.require(table)
    draw = {"dask": apply_dask, "polars": _apply_polars, "pandas": _apply_pandas}[kind]
    return draw(table, data, column, keep, misfits)


@sealed
def estimate(
    origin: Table | Origin,
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
    labelled table: they are numbers of its file. Reports of a device are estimated by its `Origin`, as
    ``device.origin(periods)`` gives it: through both of its draws, and with people counted, not reports.

    >>> from mechdesign.tables import make_table
    >>> from mechdesign.mechanisms.catalogue import pm
    >>> table = make_table(pm(1.0))
    >>> import numpy as np
    >>> found = estimate(table, apply(table, np.full(10_000, 0.5)), confidence=0.999999)
    >>> found.lower < 0.5 < found.upper
    True
    """
    require_quantity(of)
    return tally(origin, data, column, codes=codes).estimate(confidence, of)


@sealed
def tally(origin: Table | Origin, data: Any, column: str | None = None, *, codes: bool = False) -> Tally:
    """What estimates need to know of reports; the tallies of several data sets can be merged."""
    from_ = origin if isinstance(origin, Origin) else Origin(origin)
    require_labels(from_.table, codes)
    kind = data_kind(data)
    if kind == "numbers":
        return Tally(from_).add_codes(data) if codes else Tally(from_).add(data)
    if kind == "path" or is_lazy(data):
        return tally_data(from_, data, column, None, codes)
    if column is None:
        raise InvalidInput("column", None, "name a column of the data")
    if kind == "dask":
        return tally_dask(from_, data, column, codes)
    require_columns([column], _names(data), FRAME)
    return tallied(Tally(from_), to_arrow(data[column]), typed, f"column {column!r}", codes)


def _names(frame: Any) -> list[str]:
    return list(frame.collect_schema().names()) if hasattr(frame, "collect_schema") else [*frame.columns]


def _apply_polars(table: Table, frame: Any, column: str, keep: Sequence[str], misfits: Misfits) -> Any:
    import polars as pl

    lazy = is_lazy(frame)
    try:
        names = wanted(_names(frame), column, keep)
        data = frame.select(names).collect() if lazy else frame.select(names)
    except pl.exceptions.PolarsError as error:  # in words that may quote the data
        rule = f"give its rows ({type(error).__name__})"
        raise InvalidInput("data", "a frame of Polars", rule, "collect it to see what is wrong") from None
    found = drawn(table, to_arrow(data[column]), typed, f"column {column!r}", 0, misfits)
    rows = data if found.kept is None else data.filter(pl.Series(found.kept))
    reports = found.reports.tolist() if found.wrong is not None or found.reports.dtype.kind == "O" else found.reports
    told = rows.with_columns(pl.Series(column, reports, strict=False))
    return told.lazy() if lazy else told


def _apply_pandas(table: Table, frame: Any, column: str, keep: Sequence[str], misfits: Misfits) -> Any:
    data = frame[wanted(_names(frame), column, keep)]
    return replaced(data, column, drawn(table, to_arrow(data[column]), typed, f"column {column!r}", 0, misfits))
