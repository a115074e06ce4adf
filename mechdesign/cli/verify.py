"""A table file, checked in integers: PASS, or the exact entry that fails (exit code 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mechdesign import plot
from mechdesign.cli import devices, output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.sent import Said
from mechdesign.deploy import Difference, Table, checker, load_table, source_difference
from mechdesign.deploy.device import Device, device_difference, load_device
from mechdesign.deploy.summary import kept_words
from mechdesign.deploy.table import is_design
from mechdesign.errors import InvalidInput
from mechdesign.privacy import Pure
from mechdesign.values import files
from mechdesign.values.declare import frozen

_WIDTH = 80


@frozen
class Answer:
    """The verdict; what a table that passes is."""

    verdict: Literal["PASS", "FAIL"]
    failures: tuple[str, ...]
    privacy_loss: float | None
    epsilon: float | None
    kind: str | None = if_shown()
    bits: int | None = if_shown()
    sha256: str | None = if_shown()
    device: devices.Told | None = if_shown()


ANSWERS = ((Answer,),)
EXAMPLE = """\
table --eps 1 --mechanism pm --out pm.json
verify pm.json"""


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="FILE")],
    sent: Said,
    source: Annotated[
        Path | None,
        typer.Option(
            "--source", help="A file that should be an export of this table; FAIL tells the first line that differs."
        ),
    ] = None,
    device: Annotated[
        Path | None,
        typer.Option("--device", help="A device file of this table: what its reports lose together.", metavar="FILE"),
    ] = None,
    again: Annotated[
        Path | None, typer.Option("--again", help="The second table that the device file names.", metavar="FILE")
    ] = None,
) -> None:
    if again is not None and device is None:
        raise InvalidInput("again", again.name, "come with --device", "give the device file that names both tables")
    content = files.read_bytes(file)
    if is_design(content):
        output.warn(f"this is a design, not a table: make one with table {plot.printable(file.name)} --out t.json")
    try:
        with output.progress("checking the table", quiet=sent.quiet):
            checker.check(content)
    except checker.Failed as failure:
        if sent.as_json:
            output.print_json(Answer("FAIL", (str(failure),), None, None))
        else:
            output.console.print(f"FAIL {failure}", markup=False, soft_wrap=True)
        raise typer.Exit(1) from None
    table = Table(content)
    kept = None if device is None else load_device(device, table, None if again is None else load_table(again))
    difference = None if source is None else _difference(table, kept, source)
    said = None if kept is None else devices.told(kept)
    if sent.as_json:
        failures = () if difference is None else (_in_words(source, difference),)
        of = table.privacy_loss, float(table.epsilon), table.kind, table.bits, table.sha256
        output.print_json(Answer("FAIL" if failures else "PASS", failures, *of, said))
        _end(difference)
        return
    output.console.print(
        f"PASS {plot.printable(table.name)}: {table.kind} table of {table.bits} bits\n"
        f"{_kept(table)}\n"
        f"  sha256: {table.sha256}",
        markup=False,
        soft_wrap=True,
    )
    if kept is not None and said is not None:
        devices.show(kept, said)
    if source is not None:
        verdict = f"PASS {plot.printable(source.name)} is an export of this table"
        if difference is not None:
            verdict = f"FAIL {_in_words(source, difference)}"
        output.console.print(verdict, markup=False, soft_wrap=True)
    _end(difference)


def _difference(table: Table, device: Device | None, source: Path) -> Difference | None:
    return source_difference(table, source) if device is None else device_difference(device, source)


def _kept(table: Table) -> str:
    if not isinstance(table.privacy, Pure):
        return "\n".join(kept_words(table))
    return f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps = {float(table.epsilon):.12g})"


def _in_words(source: Path | None, difference: Difference) -> str:
    name = "" if source is None else plot.printable(source.name)
    expected, found = (plot.printable(text, _WIDTH) for text in (difference.expected, difference.found))
    return f"{name}, line {difference.line}: must be {expected!r}, not {found!r}"


def _end(difference: Difference | None) -> None:
    if difference is not None:
        raise typer.Exit(1)
