"""The picture of a saved design, a table, or the --results of bench; of a design it is what show --plot draws."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.cli.pictures import KINDS, LAW, picture
from mechdesign.errors import InvalidInput


def run(
    file: Annotated[Path, typer.Argument(help="A file this package wrote.", metavar="FILE")],
    out: Annotated[Path, typer.Option("--out", help="The picture: .png, .pdf or .svg.", metavar="PICTURE")],
    kind: Annotated[
        str,
        typer.Option(
            "--kind", help="law; error: loss over a design's inputs; lines or heat: of a benchmark's results."
        ),
    ] = LAW,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    if kind not in KINDS:
        raise InvalidInput("kind", kind, f"be {' or '.join(KINDS)}")
    output.require_outputs(None, out, force=force)
    output.require_apart([out], [file])
    with output.progress("drawing", quiet=quiet):
        save_picture(picture(file, kind), out, overwrite=force)
    if as_json:
        output.print_json({"file": str(file), "picture": str(out), "kind": kind})
        return
    output.say_saved(out)
