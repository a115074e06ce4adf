"""Small example data as CSV files, so that every command of the documentation can be pasted. Made, nobody's data."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign import examples, files
from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.errors import FileProblem


def run(
    out: Annotated[Path, typer.Option("--out", help="The folder to write to; it is made.", metavar="DIR")] = Path(),
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileProblem("output folder", str(out), f"be a folder ({(error.strerror or '').lower()})") from None
    with output.progress("writing the example data", quiet=quiet):
        for name in examples.NAMES:
            _write(out / name, examples.content(name), overwrite=force)
    if as_json:
        output.print_json({"files": {str(out / name): holds for name, holds in examples.NAMES.items()}})
        return
    for name, holds in examples.NAMES.items():
        output.console.print(f"{out / name}: {holds}", soft_wrap=True)


def _write(path: Path, content: bytes, *, overwrite: bool) -> None:
    """The file, unless it is there already as it would be written."""
    if path.is_file() and path.stat().st_size == len(content) and path.read_bytes() == content:
        return
    files.require_writable(path, overwrite=overwrite)
    files.write_atomically(path, content, overwrite=overwrite)
