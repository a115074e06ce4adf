"""The table of certified constants: the best any mechanism can do over epsilon, loss and criterion, proven anew."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet, parse_epsilons
from mechdesign.cli.question import with_options
from mechdesign.design import constants
from mechdesign.errors import NoAnswer
from mechdesign.values import files
from mechdesign.values.codec import encoded


def run(
    eps: Annotated[str, typer.Option("--eps", help="Epsilons, as A,B,C or FROM:TO:COUNT.")] = "0.5,1,2,4",
    criteria: Annotated[
        str | None, typer.Option("--criteria", help="worst, average, unbiased, comma-separated (all unless given).")
    ] = None,
    gap: Annotated[float, typer.Option("--gap", help="Relative gap of the worst-case rows.")] = 1e-5,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds a row may take.", metavar="S")] = 300.0,
    best_so_far: Annotated[
        bool, typer.Option("--best-so-far", help="Where a row takes longer: the interval found until then.")
    ] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Write the document (Markdown).")] = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, force=force)
    names = constants.CRITERIA if criteria is None else tuple(_criterion(name) for name in criteria.split(","))
    epsilons = parse_epsilons(eps)
    rows = []
    with output.progress("certified constants", quiet=quiet) as say:
        try:
            for row in constants.certified_constants(gap, names, epsilons, time_limit, best_so_far=best_so_far):
                rows.append(row)
                say(f"certified constants: {len(rows)} rows, last {row.criterion}, {row.loss}, eps = {row.epsilon:g}")
        except NoAnswer as stopped:
            raise with_options(stopped, f"row {len(rows) + 1}: {stopped.reason}") from None
    document = constants.as_markdown(rows)
    if out is not None:
        files.write_atomically(out, document.encode(), overwrite=force)
    if as_json:
        output.print_json({"constants": encoded(rows)})
    elif out is None:
        output.console.print(document, soft_wrap=True)
    else:
        output.say_saved(out)


def _criterion(name: str) -> str:
    return {"worst": constants.WORST}.get(name.strip().lower(), name.strip().lower())
