"""A table file, checked in integers: PASS, or the exact entry that fails (exit code 1)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.sent import Said
from mechdesign.deploy import Table, checker, package_difference, source_difference
from mechdesign.deploy.export.packages import is_packaged, package_of
from mechdesign.deploy.summary import kept_words
from mechdesign.deploy.table import is_design
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
            "--source",
            help="A file or a package that should be an export of this table; FAIL tells what differs first.",
        ),
    ] = None,
) -> None:
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
    difference = None if source is None else _difference(table, source)
    if sent.as_json:
        failures = () if difference is None else (difference,)
        of = table.privacy_loss, float(table.epsilon), table.kind, table.bits, table.sha256
        output.print_json(Answer("FAIL" if failures else "PASS", failures, *of))
        _end(difference)
        return
    output.console.print(
        f"PASS {plot.printable(table.name)}: {table.kind} table of {table.bits} bits\n"
        f"{_kept(table)}\n"
        f"  sha256: {table.sha256}",
        markup=False,
        soft_wrap=True,
    )
    if source is not None:
        said = f"PASS {plot.printable(source.name)} is an export of this table"
        if difference is not None:
            said = f"FAIL {difference}"
        output.console.print(said, markup=False, soft_wrap=True)
    _end(difference)


def _kept(table: Table) -> str:
    if not isinstance(table.privacy, Pure):
        return "\n".join(kept_words(table))
    return f"  privacy loss: {table.privacy_loss:.12g} (computed exactly, at most eps = {float(table.epsilon):.12g})"


def _difference(table: Table, source: Path) -> str | None:
    """What differs first, in words: of a package, of a file in one, or of any other file; None if nothing does."""
    package = source if is_packaged(source) or source.is_dir() else package_of(source)
    name = plot.printable(source.name)
    if package is not None:
        wrong = package_difference(table, package, None if package == source else source)
        return (
            None
            if wrong is None
            else f"{name}: {plot.printable(wrong.path, _WIDTH)} {plot.printable(wrong.rule, 2 * _WIDTH)}"
        )
    other = source_difference(table, source)
    if other is None:
        return None
    expected, found = (plot.printable(text, _WIDTH) for text in (other.expected, other.found))
    return f"{name}, line {other.line}: must be {expected!r}, not {found!r}"


def _end(difference: str | None) -> None:
    if difference is not None:
        raise typer.Exit(1)
