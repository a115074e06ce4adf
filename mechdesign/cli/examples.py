"""Small example data as CSV files, so that every command of the documentation can be pasted. Made, nobody's data."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from mechdesign import examples
from mechdesign.cli import output
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.errors import FileProblem
from mechdesign.values import files
from mechdesign.values.declare import frozen


@frozen
class Written:
    """The files, and what each of them holds."""

    files: Mapping[str, str]


ANSWERS = ((Written,),)
EXAMPLE = "examples --out data"


def run(
    sent: Annotated[Sent, Part("out", "plot", "title", "plot_size")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write to; it is made.", metavar="DIR")] = Path(),
) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        rule = f"be a folder ({(error.strerror or '').lower()})"
        raise FileProblem("output folder", str(out), rule, files.remedy(error, "choose another name")) from None
    with output.progress("writing the example data", quiet=sent.quiet):
        for name in examples.NAMES:
            _write(out / name, examples.content(name), overwrite=sent.force)
    if sent.as_json:
        output.print_json(Written({str(out / name): holds for name, holds in examples.NAMES.items()}))
        return
    for name, holds in examples.NAMES.items():
        output.console.print(f"{out / name}: {holds}", soft_wrap=True)


def _write(path: Path, content: bytes, *, overwrite: bool) -> None:
    """The file, unless it is there already as it would be written."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    files.require_writable(path, overwrite=overwrite)
    files.write_atomically(path, content, overwrite=overwrite)
