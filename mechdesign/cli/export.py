"""A sampler of a table in another language: sources without dependencies, and test vectors they reproduce."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import devices, output
from mechdesign.cli.sent import Sent, Written
from mechdesign.deploy import load_table
from mechdesign.deploy.device import export_device
from mechdesign.deploy.export import LANGUAGES, export_table
from mechdesign.deploy.export.plan import plan_of
from mechdesign.deploy.export.texts import comes_out, goes_in
from mechdesign.deploy.vectors import boundaries_left_out
from mechdesign.errors import InvalidInput
from mechdesign.plot import printable
from mechdesign.values.declare import frozen

_MOST_LISTED = 8
_CHOICES = ", ".join(LANGUAGES)


@frozen
class Answer:
    """The sources that were written, and what goes in and comes out of them."""

    language: str
    sha256: str
    kind: str
    epsilon: float
    input: str
    output: str
    boundaries_left_out: int
    files: tuple[str, ...]


@frozen
class WithState:
    """The sources of a device: samplers with memory and a ledger."""

    language: str
    device: devices.Told
    files: tuple[str, ...]


ANSWERS = ((Answer,), (WithState,))
EXAMPLE = """\
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
export smokes.json --to python --out sampler"""


def run(
    file: Annotated[Path, typer.Argument(help="A table written by the table command.", metavar="FILE")],
    to: Annotated[str, typer.Option("--to", help=f"The language: {_CHOICES}.", metavar="LANGUAGE")],
    out: Annotated[Path, typer.Option("--out", help="A folder for the sources, created if need be.", metavar="DIR")],
    sent: Written,
    reports: Annotated[
        int | None,
        typer.Option("--reports", help="With a state on the device: how many reports it makes a period.", metavar="N"),
    ] = None,
    values: Annotated[
        int | None,
        typer.Option(
            "--values", help="How many values it remembers a draw for; 0, the default, draws every report afresh."
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--again", help="A table that randomises what is remembered in every report.", metavar="FILE"),
    ] = None,
) -> None:
    if reports is not None:
        _with_state(file, to, out, sent, reports, values or 0, again)
        return
    for name, said in (("values", values), ("again", again)):
        if said is not None:
            raise InvalidInput(name, str(said), "come with --reports", "say how many reports a device makes a period")
    with output.progress("writing sources and test vectors", quiet=sent.quiet):
        table = load_table(file)
        written = export_table(table, to, out, overwrite=sent.force)
    plan, left_out = plan_of(table.document), boundaries_left_out(table)
    if sent.as_json:
        about = to, table.sha256, table.kind, float(table.epsilon), goes_in(plan), comes_out(plan)
        output.print_json(Answer(*about, left_out, tuple(map(str, written))))
        return
    output.console.print(f"{table.name}: {table.kind} table of {table.bits} bits, to {to}", markup=False)
    output.console.print(f"  in: {goes_in(plan)}{_listed(plan.input_labels)}", markup=False, soft_wrap=True)
    output.console.print(f"  out: {comes_out(plan)}{_listed(plan.output_labels)}", markup=False, soft_wrap=True)
    if left_out:
        rule = f"test vectors: {left_out} boundaries are left out, so they do not notice every change of a number"
        output.warn(rule)
    if to == "sql" and plan.inputs.count:
        output.warn("PostgreSQL only: DuckDB's macros cannot draw one number after the other; apply draws in Python")
    if plan.labelled:
        output.console.print("  codes, which test vectors hold, have a function of their own", markup=False)
    for path in written:
        output.console.print(f"  wrote {path}", markup=False, soft_wrap=True)


def _with_state(file: Path, to: str, out: Path, sent: Sent, reports: int, values: int, again: Path | None) -> None:
    device = devices.asked(file, again, values, reports)
    with output.progress("writing sources and test vectors", quiet=sent.quiet):
        written = export_device(device, to, out, overwrite=sent.force)
        said = devices.told(device)
    if sent.as_json:
        output.print_json(WithState(to, said, tuple(map(str, written))))
        return
    devices.show(device, said)
    for path in written:
        output.console.print(f"  wrote {path}", markup=False, soft_wrap=True)


def _listed(labels: tuple[str, ...] | None) -> str:
    if labels is None:
        return ""
    more = ", ..." if len(labels) > _MOST_LISTED else ""
    return f": {', '.join(printable(json.dumps(text, ensure_ascii=False)) for text in labels[:_MOST_LISTED])}{more}"
