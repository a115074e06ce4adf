"""Reports of one column of a data file, drawn from a table with the system's randomness: CSV or Parquet, any size."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Written
from mechdesign.data.sources import Progress
from mechdesign.deploy import load_table
from mechdesign.deploy.frames import apply_table
from mechdesign.plot import printable
from mechdesign.values.declare import frozen


@frozen
class Answer:
    """The reports that were written, and what each spends."""

    rows: int
    column: str
    kept: tuple[str, ...]
    file: str
    source: str
    name: str
    kind: str
    sha256: str
    epsilon: float
    privacy_loss: float


ANSWERS = ((Answer,),)
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv"""


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="TABLE")],
    source: Annotated[Path, typer.Option("--in", help="The data: .csv with a header, or .parquet.", metavar="DATA")],
    out: Annotated[Path, typer.Option("--out", help="The file of reports: .csv or .parquet.")],
    sent: Written,
    column: Annotated[
        str | None, typer.Option("--column", help="The column to report (if there are several).", metavar="NAME")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", help="Other columns to write too, NOT protected.", metavar="A,B")] = "",
) -> None:
    table = load_table(file)
    kept = [name.strip() for name in keep.split(",")] if keep.strip() else []
    output.require_outputs(out, force=sent.force)
    with (
        output.ending_cleanly(),
        counting_rows(f"reporting {column or 'the column'} of {source.name}", quiet=sent.quiet) as progress,
    ):
        done = apply_table(table, source, column, out, keep=kept, overwrite=sent.force, progress=progress)
    if kept:
        output.warn(f"kept as they are, without any protection: {', '.join(kept)}")
    if sent.as_json:
        where = done.rows, done.column, tuple(kept), str(out), str(source)
        of = table.name, table.kind, table.sha256, float(table.epsilon), table.privacy_loss
        output.print_json(Answer(*where, *of))
        return
    output.console.print(
        f"{done.rows:,} reports of {printable(done.column)} from {printable(table.name)}\n"
        f"  privacy loss of each report: {table.privacy_loss:.12g} (eps = {float(table.epsilon):.12g})\n"
        "  a second run over the same people spends it again: keep this file",
        soft_wrap=True,
    )
    output.say_saved(out)


@contextlib.contextmanager
def counting_rows(message: str, *, quiet: bool) -> Iterator[Progress]:
    """A bar of rows done on a terminal, else the lines of `output.progress` with the rows in them."""
    message = printable(message)
    if quiet or sys.stderr is None or not sys.stderr.isatty():
        with output.progress(message, quiet=quiet) as say:
            yield lambda rows, in_all: say(f"{message}: {rows:,} of {in_all:,} rows")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        TextColumn("{task.completed:,.0f} of {task.total:,.0f} rows"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=0)
        yield lambda rows, in_all: bar.update(task, completed=rows, total=in_all)
