"""A sampler of a table in another language: sources without dependencies, and test vectors they reproduce."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.deploy import load_table
from mechdesign.deploy.export import LANGUAGES, export_table

_CHOICES = ", ".join(LANGUAGES)


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="FILE")],
    to: Annotated[str, typer.Option("--to", help=f"The language: {_CHOICES}.", metavar="LANGUAGE")],
    out: Annotated[Path, typer.Option("--out", help="A folder for the sources, created if need be.", metavar="DIR")],
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    with output.progress("writing sources and test vectors", quiet=quiet):
        table = load_table(file)
        written = export_table(table, to, out, overwrite=force)
    if as_json:
        answer = {"language": to, "sha256": table.sha256, "kind": table.kind, "epsilon": float(table.epsilon)}
        output.print_json(answer | {"files": [str(path) for path in written]})
        return
    output.console.print(f"{table.name}: {table.kind} table of {table.bits} bits, to {to}", markup=False)
    for path in written:
        output.console.print(f"  wrote {path}", markup=False, soft_wrap=True)
