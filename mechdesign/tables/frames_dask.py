"""Reports of lazy Dask frames, drawn where their partitions are computed, and estimates from them."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Sequence
from typing import Any

import numpy as np

from mechdesign.data.columns import require_columns, typed
from mechdesign.errors import InvalidInput, sealed, unusable_extra
from mechdesign.tables.estimators import Tally, merged
from mechdesign.tables.frames_columns import FRAME, tallied, to_arrow, told, wanted
from mechdesign.tables.misfits import REFUSE, Drawn, Misfits, drawn, replaced
from mechdesign.tables.origin import Origin
from mechdesign.tables.table import Table

_drawn: set[tuple[str, int]] = set()
_drawing = threading.Lock()


def apply_dask(table: Table, frame: Any, column: str, keep: Sequence[str] = (), misfits: Misfits = REFUSE) -> Any:
    """A lazy Dask frame of reports; partitions are drawn where they are computed, each from its system's randomness.

    **Compute it once.** Dask draws anew on every ``compute``, ``head`` or write, and two reports of a person spend
    epsilon twice. So ``persist()`` it or write it with ``to_parquet``, and go on from that. A process that is asked
    for a partition a second time refuses; over several processes nobody can, and a partition that a cluster lost is
    drawn again.
    """
    dask, dd = _dask()
    data = frame[wanted([*frame.columns], column, keep)]
    meta = replaced(data._meta, column, Drawn(told(table, np.empty(0)), None, None, 0))
    draw, token = dask.delayed(_draw_partition, pure=False), uuid.uuid4().hex
    parts = [draw(table, part, column, misfits, (token, number)) for number, part in enumerate(data.to_delayed())]
    return dd.from_delayed(parts, meta=meta)


@sealed
def _draw_partition(table: Table, part: Any, column: str, misfits: Misfits, ticket: tuple[str, int]) -> Any:
    _, number = ticket
    with _drawing:
        if ticket in _drawn:
            rule = "be drawn once: computing again would give each person a second report and spend epsilon again"
            step = "keep the first result: apply(...).persist(), or write it with to_parquet and read that"
            raise InvalidInput("reports", f"partition {number}", rule, step)
        _drawn.add(ticket)
    try:
        found = drawn(table, to_arrow(part[column]), typed, f"partition {number}, column {column!r}", 0, misfits)
    except BaseException:
        with _drawing:
            _drawn.discard(ticket)
        raise
    return replaced(part, column, found)


def tally_dask(origin: Origin, frame: Any, column: str, codes: bool) -> Tally:
    """A tally of each partition, merged in pairs."""
    dask, _ = _dask()
    require_columns([column], [*frame.columns], FRAME)
    count = dask.delayed(_tally_partition, pure=False)
    merge = dask.delayed(merged, pure=False)
    level = [count(origin, part, column, number, codes) for number, part in enumerate(frame[column].to_delayed())]
    while len(level) > 1:
        level = [merge(origin, *level[k : k + 2]) for k in range(0, len(level), 2)]
    total: Tally = dask.compute(level[0])[0]
    return total


@sealed
def _tally_partition(origin: Origin, part: Any, column: str, number: int, codes: bool) -> Tally:
    return tallied(Tally(origin), to_arrow(part), typed, f"partition {number}, column {column!r}", codes)


def _dask() -> tuple[Any, Any]:
    try:
        import dask
        import dask.dataframe
    except ImportError as error:
        raise unusable_extra("reports of Dask frames", "data", error) from None
    return dask, dask.dataframe
