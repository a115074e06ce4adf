"""What a name in any output means: its law, who wrote it, and what it is good for.

Mechanisms, protocols, estimators, post-processings, designs, searches and metrics have names, and there are words such
as eps, claimed and quantile; without NAME all are listed.
"""

from __future__ import annotations

from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import completion
from mechdesign.glossary import ENTRIES, KINDS, NONE, Entry, entry, of_kind
from mechdesign.values.declare import frozen


@frozen
class Listed:
    """All names, in the order of the documentation's page."""

    entries: tuple[Entry, ...]


ANSWERS = ((Listed,), (Entry,))
EXAMPLE = "glossary t-sw"


def run(
    sent: Said,
    name: Annotated[
        list[str] | None,
        typer.Argument(
            help="A name as outputs print it.",
            metavar="[NAME]",
            autocompletion=completion(lambda: [one.name for one in ENTRIES]),
        ),
    ] = None,
) -> None:
    if not name:
        _list(as_json=sent.as_json)
        return
    found = entry(" ".join(name))
    if sent.as_json:
        output.print_json(found)
    else:
        _print(found)


def _list(*, as_json: bool) -> None:
    if as_json:
        output.print_json(Listed(ENTRIES))
        return
    for kind in KINDS:
        output.console.print(kind, style="bold", soft_wrap=True)
        for found in of_kind(kind):
            output.console.print(f"  {found.name:<26} {found.title}", soft_wrap=True)
        output.console.print()
    output.console.print(f"{len(ENTRIES)} names; glossary NAME says what one is", soft_wrap=True)


def _print(found: Entry) -> None:
    output.console.print(f"{found.name}: {found.title}", style="bold", soft_wrap=True)
    output.console.print(f"  {found.what}", soft_wrap=True)
    rows = [["of", found.kind], ["law", found.formula], ["good for", found.good_for], ["source", found.citation]]
    if found.also:
        rows.append(["also", ", ".join(found.also)])
    for label, text in rows:
        if text != NONE:
            output.console.print(f"  {label:<9} {text}", soft_wrap=True)
