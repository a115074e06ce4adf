"""Reports of one column of a data file, drawn from a table with the system's randomness: CSV or Parquet, any size."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.data.sources import Progress
from mechdesign.deploy import load_table
from mechdesign.deploy.frames import apply_table
from mechdesign.plot import printable


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="TABLE")],
    source: Annotated[Path, typer.Option("--in", help="The data: .csv with a header, or .parquet.", metavar="DATA")],
    out: Annotated[Path, typer.Option("--out", help="The file of reports: .csv or .parquet.")],
    column: Annotated[
        str | None, typer.Option("--column", help="The column to report (if there are several).", metavar="NAME")
    ] = None,
    keep: Annotated[str, typer.Option("--keep", help="Other columns to write too, NOT protected.", metavar="A,B")] = "",
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    table = load_table(file)
    kept = [name.strip() for name in keep.split(",")] if keep.strip() else []
    output.require_outputs(out, force=force)
    with (
        output.ending_cleanly(),
        counting_rows(f"reporting {column or 'the column'} of {source.name}", quiet=quiet) as progress,
    ):
        done = apply_table(table, source, column, out, keep=kept, overwrite=force, progress=progress)
    if kept:
        output.warn(f"kept as they are, without any protection: {', '.join(kept)}")
    if as_json:
        answer = {"rows": done.rows, "column": done.column, "kept": kept, "file": str(out), "source": str(source)}
        said = {"name": table.name, "kind": table.kind, "sha256": table.sha256}
        output.print_json(answer | said | {"epsilon": float(table.epsilon), "privacy_loss": table.privacy_loss})
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
