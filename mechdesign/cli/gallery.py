"""The gallery: theorems and claims, one at a time, with our number beside a reference of its own and a picture.

Without NAME the list is printed. A file of the gallery has its statement, formula and source, and computes two numbers
that must agree; where the literature prints another one, that is shown too. For example: gallery two_points --plot
two.png
"""

from __future__ import annotations

from textwrap import indent
from typing import Annotated

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.sent import Drawn
from mechdesign.cli.signatures import completion
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.papers.gallery import CHAPTERS, ENTRIES, Entry, Outcome, entry
from mechdesign.values.declare import frozen


@frozen
class About:
    """A file of the gallery."""

    name: str
    chapter: str
    title: str


@frozen
class Listed:
    """All of them."""

    entries: tuple[About, ...]


@frozen
class Computed:
    """What a file states, and its numbers."""

    statement: str
    ours: float
    reference: float
    relation: str
    tolerance: float
    printed: float | None
    agrees: bool


ANSWERS = ((Listed,), (About, Computed))
EXAMPLE = "gallery two_points"


def run(
    sent: Drawn,
    name: Annotated[
        str | None,
        typer.Argument(
            help="A file of the list.",
            metavar="[NAME]",
            autocompletion=completion(lambda: [one.name for one in ENTRIES]),
        ),
    ] = None,
) -> None:
    if name is None:
        if sent.plot is not None:
            raise InvalidInput("option", "--plot", "come with the name of a file", "`mechdesign gallery` lists them")
        _list(as_json=sent.as_json)
        return
    shown = entry(name)
    sent.require_writable()
    with output.progress(shown.name, quiet=sent.quiet):
        found = shown.judge()
        if sent.plot is not None:
            sent.draw(plot.exhibit(shown))
    if sent.as_json:
        output.print_json(_about(shown), _computed(shown, found))
    else:
        _print(shown, found)
        sent.say_saved()
    if not found.agrees:
        raise CheckFailed(f"the two numbers of gallery file {shown.name} do not agree")


def _about(shown: Entry) -> About:
    return About(shown.name, shown.chapter, shown.title)


def _computed(shown: Entry, found: Outcome) -> Computed:
    held = found.tolerance
    numbers = found.ours, found.reference, held.relation, held.share, found.printed
    return Computed(shown.statement, *numbers, found.agrees)


def _list(*, as_json: bool) -> None:
    if as_json:
        output.print_json(Listed(tuple(map(_about, ENTRIES))))
        return
    for chapter, names in CHAPTERS:
        output.console.print(chapter, style="bold", soft_wrap=True)
        for name in names:
            output.console.print(f"  {name:<22} {entry(name).title}", soft_wrap=True)
        output.console.print()
    output.console.print(f"{len(ENTRIES)} files; gallery NAME computes one, --plot FILE draws it", soft_wrap=True)


def _print(shown: Entry, found: Outcome) -> None:
    title, _, rest = shown.statement.partition("\n")
    output.console.print(title, style="bold", soft_wrap=True)
    output.console.print(indent(rest.replace("``", "").rstrip(), "  "), soft_wrap=True)
    output.console.print()
    rows = [["ours", f"{found.ours:.10g}"], ["reference", f"{found.reference:.10g}"]]
    if found.printed is not None:
        rows.append(["printed", f"{found.printed:.10g}"])
    for label, number in rows:
        output.console.print(f"  {label:<10} {number}", soft_wrap=True)
    verdict = "ours and the reference agree" if found.agrees else "OURS AND THE REFERENCE DO NOT AGREE"
    output.console.print(f"  {verdict} (ours is {found.tolerance.in_words} the reference)", soft_wrap=True)
