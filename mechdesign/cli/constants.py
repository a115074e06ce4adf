"""The table of certified constants: the best any mechanism can do over epsilon, loss and criterion, proven anew."""

from __future__ import annotations

from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import BestSoFar, parse_epsilons
from mechdesign.cli.sent import Sent, kept
from mechdesign.cli.signatures import completion
from mechdesign.errors import NoAnswer
from mechdesign.methods import constants
from mechdesign.studies.optimum import with_options
from mechdesign.values.declare import frozen


@frozen
class Answer:
    """The rows of the table."""

    constants: tuple[constants.Constant, ...]


ANSWERS = ((Answer,),)
EXAMPLE = "constants --eps 1 --criteria unbiased"

_CRITERIA = ("worst", "average", "unbiased", "unbiased worst", "several", "directions")


def run(
    sent: Annotated[Sent, kept("Write the document (Markdown).")],
    eps: Annotated[str, typer.Option("--eps", help="Epsilons, as A,B,C or FROM:TO:COUNT.")] = "0.5,1,2,4",
    criteria: Annotated[
        str | None,
        typer.Option(
            "--criteria",
            help="worst, average, unbiased, unbiased worst, several, directions, comma-separated (all unless given).",
            autocompletion=completion(lambda: _CRITERIA),
        ),
    ] = None,
    gap: Annotated[float, typer.Option("--gap", help="Relative gap of the worst-case rows.")] = 1e-5,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds a row may take.", metavar="S")] = 300.0,
    best_so_far: BestSoFar = False,
) -> None:
    sent.require_writable()
    names = constants.CRITERIA if criteria is None else tuple(_criterion(name) for name in criteria.split(","))
    epsilons = parse_epsilons(eps)
    rows = []
    with output.progress("certified constants", quiet=sent.quiet) as say:
        try:
            for row in constants.certified_constants(gap, names, epsilons, time_limit, best_so_far=best_so_far):
                rows.append(row)
                say(f"certified constants: {len(rows)} rows, last {row.criterion}, {row.loss}, eps = {row.epsilon:g}")
        except NoAnswer as stopped:
            raise with_options(stopped, f"row {len(rows) + 1}: {stopped.reason}") from None
    document = constants.as_markdown(rows)
    sent.keep(document)
    if sent.as_json:
        output.print_json(Answer(tuple(rows)))
    elif sent.out is None:
        output.console.print(document, soft_wrap=True)
    else:
        sent.say_saved()


def _criterion(name: str) -> str:
    return {"worst": constants.WORST}.get(name.strip().lower(), name.strip().lower())
