"""A table file, checked in integers: PASS, or the exact entry that fails (exit code 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign import files, plot
from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Quiet
from mechdesign.deploy import Table, checker
from mechdesign.deploy.table import is_design


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="FILE")],
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    content = files.read_bytes(file)
    if is_design(content):
        output.warn(f"this is a design, not a table: make one with table {plot.printable(file.name)} --out t.json")
    try:
        with output.progress("checking the table", quiet=quiet):
            checker.check(content)
    except checker.Failed as failure:
        if as_json:
            output.print_json({"verdict": "FAIL", "failures": [str(failure)], "privacy_loss": None, "epsilon": None})
        else:
            output.console.print(f"FAIL {failure}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    table = Table(content)
    if as_json:
        answer = {
            "verdict": "PASS",
            "failures": [],
            "privacy_loss": table.privacy_loss,
            "epsilon": float(table.epsilon),
        }
        output.print_json(answer | {"kind": table.kind, "bits": table.bits, "sha256": table.sha256})
        return
    output.console.print(
        f"PASS {plot.printable(table.name)}: {table.kind} table of {table.bits} bits\n"
        f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps = {float(table.epsilon):.12g})\n"
        f"  sha256: {table.sha256}",
        markup=False,
        soft_wrap=True,
    )
