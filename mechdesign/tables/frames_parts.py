"""Rows of data, all of a file's or those of a part of it: a Parquet file's row groups are read without those before.

A CSV file has no such parts: where a quote is open is only known to who has read it from its beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from mechdesign.data.sources import DataFile, Progress
from mechdesign.engine import Engine
from mechdesign.errors import FileProblem, InvalidData, InvalidInput
from mechdesign.tables.estimators import Tally
from mechdesign.values.declare import frozen

_LEAST_ROWS = 1 << 18  # of a part, where the file allows: less is not worth the way to a worker


@frozen
class Part:
    """A file, or its row groups from ``first`` to ``stop - 1``: ``rows`` after ``before`` others, ``share`` bytes."""

    path: Path
    column: str
    share: int
    rows: int = 0
    before: int = 0
    first: int | None = None
    stop: int | None = None


@frozen
class Source:
    """Data, opened, and the column that is asked for; if a ``part`` is said, the rows of this part only."""

    data: DataFile
    column: str
    part: Part | None = None

    @property
    def place(self) -> str:
        """Where values stand, in words."""
        return f"{self.data.name}, column {self.column!r}"

    def batches(self, keep: Sequence[str] = (), progress: Progress | None = None) -> Iterator[tuple[int, Any]]:
        """Rows of the column and of those to keep, a batch with the number of rows before it; progress is told."""
        data, part, rows = self.data, self.part, 0 if self.part is None else self.part.before
        names = [name for name in data.names if name in (self.column, *keep)]
        if part is None or part.first is None or part.stop is None or data.read_groups is None:
            found = data.read(names)
        else:
            found = data.read_groups(names, range(part.first, part.stop))
        for batch in found:
            if batch.num_rows:
                yield rows, batch
                rows += batch.num_rows
                if progress is not None:
                    progress(rows, data.rows_in_all(rows))
        if progress is not None:
            progress(rows, rows)


def parts_of(source: Source) -> list[Part]:
    """Runs of row groups that together are the file, or `InvalidInput` if it has none."""
    data = source.data
    if data.path is None or data.read_groups is None:
        rule = "be left out, or the data be a .parquet file"
        raise InvalidInput("engine", data.name, rule, "other data are read from their beginning, by one process")
    parts: list[Part] = []
    size, total = data.path.stat().st_size, max(sum(data.groups), 1)
    first = before = rows = 0
    for stop, count in enumerate(data.groups, start=1):
        rows += count
        if rows >= _LEAST_ROWS or (rows and stop == len(data.groups)):
            share = size * rows // total
            parts.append(Part(data.path.absolute(), source.column, share, rows, before, first, stop))
            first, before, rows = stop, before + rows, 0
    return parts


def require_some(rows: int, bad: int, name: str) -> None:
    """Refuse data that leave nothing to report."""
    if not rows:
        more = f" that fits, and all {bad:,} do not" if bad else ""
        raise FileProblem("data file", name, f"hold at least one row of data{more}")


def counted(
    engine: Engine, work: Callable[[Part], Tally], parts: Sequence[Part], progress: Progress | None
) -> list[Tally]:
    """The tallies of all parts in the order of the file; of several wrong rows the first is the error."""
    found: dict[int, Tally | InvalidInput] = {}
    done, total = 0, sum(part.rows for part in parts)
    for position, result in engine(WithErrors(work), parts):
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


class Refused(Exception):
    """Rows that do not fit: the error about the first one, how many they are, and of how many."""

    def __init__(self, error: InvalidData, bad: int, rows: int) -> None:
        super().__init__(error, bad, rows)
        self.error, self.bad, self.rows = error, bad, rows


@frozen
class WithErrors:
    """The work, with bad input as a value: the first wrong row is only known when all parts are done."""

    work: Callable[[Any], Any]

    def __call__(self, part: Any) -> Any:
        try:
            return self.work(part)
        except (Refused, InvalidInput) as error:
            error.__cause__ = error.__context__ = None
            return error
