"""A Parquet file counted in parts, wherever an engine runs them: its row groups can be read without those before them.

A CSV file has no such parts: where a quote is open is only known to who has read it from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from mechdesign.data.sources import DataFile, Progress
from mechdesign.deploy.estimators import Tally
from mechdesign.deploy.table import Table
from mechdesign.engine import Engine
from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen

_LEAST_ROWS = 1 << 18  # of a part, where the file allows: less is not worth the way to a worker


@frozen
class Part:
    """Row groups ``first`` to ``stop - 1`` of a file, which hold ``rows`` after ``before`` others."""

    table: Table
    path: Path
    column: str
    first: int
    stop: int
    before: int
    rows: int


def parts_of(data: DataFile, table: Table, column: str) -> list[Part]:
    """Runs of row groups that together are the file, or `InvalidInput` if it has none."""
    if data.path is None or data.read_groups is None:
        rule = "be left out, or the data be a .parquet file"
        raise InvalidInput("engine", data.name, rule, "other data are read from their beginning, by one process")
    parts: list[Part] = []
    first = before = rows = 0
    for stop, count in enumerate(data.groups, start=1):
        rows += count
        if rows >= _LEAST_ROWS or (rows and stop == len(data.groups)):
            parts.append(Part(table, data.path.absolute(), column, first, stop, before, rows))
            first, before, rows = stop, before + rows, 0
    return parts


def counted(
    engine: Engine, work: Callable[[Part], Tally], parts: Sequence[Part], progress: Progress | None
) -> list[Tally]:
    """The tallies of all parts in the order of the file; of several wrong rows the first is the error."""
    found: dict[int, Tally | InvalidInput] = {}
    done, total = 0, sum(part.rows for part in parts)
    for position, result in engine(_WithErrors(work), parts):
        found[position] = result
        done += parts[position].rows
        if progress is not None:
            progress(done, total)
    tallies = []
    for _, result in sorted(found.items()):
        if isinstance(result, InvalidInput):
            raise result
        tallies.append(result)
    return tallies


@frozen
class _WithErrors:
    """The work, with bad input as a value: the first wrong row is only known when all parts are done."""

    work: Callable[[Part], Tally]

    def __call__(self, part: Part) -> Tally | InvalidInput:
        try:
            return self.work(part)
        except InvalidInput as error:
            return error
