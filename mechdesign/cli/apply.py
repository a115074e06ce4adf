"""Reports of one column of data, drawn from a table with the system's randomness: CSV or Parquet, any size.

Several files, or an engine, give a folder of reports. It is published whole, and a run that was killed goes on where it
was: no report is drawn twice.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Written
from mechdesign.cli.signatures import Part
from mechdesign.data.sources import Progress, is_many
from mechdesign.engine import Local
from mechdesign.errors import marked
from mechdesign.plot.canvas import printable
from mechdesign.tables.frames import Misfits, OnBad, apply_folder, apply_table
from mechdesign.tables.summary import counted_words
from mechdesign.tables.table import load_table
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
    on_bad: OnBad
    bad: int


ANSWERS = ((Answer,),)
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv"""

_FATE = {
    OnBad.DROP: "left out",
    OnBad.NULL: "their reports are empty",
    OnBad.CATEGORY: "reported as the category, with the table's privacy",
}


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="TABLE")],
    source: Annotated[
        Path,
        typer.Option("--in", help="The data: .csv with a header, .parquet, a folder or a pattern.", metavar="DATA"),
    ],
    out: Annotated[Path, typer.Option("--out", help="The file of reports, .csv or .parquet; or a folder.")],
    engines: Annotated[Engines, Part(workers="Processes, for a folder of reports.")],
    sent: Written,
    column: Annotated[
        str | None, typer.Option("--column", help="The column to report (if there are several).", metavar="NAME")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", help="Other columns to write too, NOT protected.", metavar="A,B")] = "",
    on_bad: Annotated[OnBad, typer.Option("--on-bad", help="What becomes of rows that do not fit.")] = OnBad.REFUSE,
    category: Annotated[
        str | None, typer.Option("--category", help="The value that stands for them: --on-bad category.")
    ] = None,
) -> None:
    misfits = Misfits(on_bad, category)
    table = load_table(file)
    kept = [name.strip() for name in keep.split(",")] if keep.strip() else []
    engine = engines.engine()
    is_folder = is_many(source) or engine != Local(1) or not out.suffix
    if not is_folder:
        output.require_outputs(out, force=sent.force)
    with (
        output.ending_cleanly(),
        counting_rows(f"reporting {column or 'the column'} of {source.name}", quiet=sent.quiet) as progress,
    ):
        if is_folder:
            done = apply_folder(
                table, source, column, out, keep=kept, misfits=misfits, engine=engine, progress=progress
            )
        else:
            done = apply_table(
                table, source, column, out, keep=kept, misfits=misfits, overwrite=sent.force, progress=progress
            )
    if done.bad and misfits.warning:
        output.warn(misfits.warning)
    if kept:
        output.warn(f"kept as they are, without any protection: {', '.join(kept)}")
    if sent.as_json:
        where = done.rows, done.column, tuple(kept), str(out), str(source)
        of = table.name, table.kind, table.sha256, float(table.epsilon), table.privacy_loss
        output.print_json(Answer(*where, *of, on_bad, done.bad))
        return
    words = counted_words(table)
    output.console.print(
        f"{done.rows:,} reports of {printable(done.column)} from the {table.kind} table {marked(table.name)}\n"
        + (f"  {done.bad:,} rows did not fit: {_FATE[on_bad]}\n" if done.bad else "")
        + f"  privacy loss of each report: {table.privacy_loss:.12g} (eps = {float(table.epsilon):.12g})\n"
        + ("" if words is None else f"  {words}\n")
        + "  a second run over the same people spends it again: keep this file",
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
