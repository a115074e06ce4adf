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
from mechdesign.cli.looks import save_picture
from mechdesign.cli.options import AsJson, Force, PlotFile, Quiet
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.gallery import CHAPTERS, ENTRIES, Entry, Outcome, entry


def run(
    name: Annotated[str | None, typer.Argument(help="A file of the list.", metavar="[NAME]")] = None,
    plot_file: PlotFile = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    if name is None:
        if plot_file is not None:
            raise InvalidInput("option", "--plot", "come with the name of a file", "`mechdesign gallery` lists them")
        _list(as_json=as_json)
        return
    shown = entry(name)
    output.require_outputs(None, plot_file, force=force)
    with output.progress(shown.name, quiet=quiet):
        found = shown.judge()
        if plot_file is not None:
            save_picture(plot.exhibit(shown), plot_file, overwrite=force)
    if as_json:
        output.print_json(_about(shown) | {"statement": shown.statement} | _numbers(found))
    else:
        _print(shown, found)
        if plot_file is not None:
            output.say_saved(plot_file)
    if not found.agrees:
        raise CheckFailed(f"the two numbers of gallery file {shown.name} do not agree")


def _about(shown: Entry) -> dict[str, object]:
    return {"name": shown.name, "chapter": shown.chapter, "title": shown.title}


def _numbers(found: Outcome) -> dict[str, object]:
    return {
        "ours": found.ours,
        "reference": found.reference,
        "relation": found.tolerance.relation,
        "tolerance": found.tolerance.share,
        "printed": found.printed,
        "agrees": found.agrees,
    }


def _list(*, as_json: bool) -> None:
    if as_json:
        output.print_json({"entries": [_about(shown) for shown in ENTRIES]})
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
