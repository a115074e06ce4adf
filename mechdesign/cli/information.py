"""One parameter of a model (a normal mean, or any cells): the reports with the most information about it, proven.

The certificate is about the inverse of the Fisher information, n times the variance of an efficient estimate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.answers import with_options
from mechdesign.cli.certified import Designed, if_shown
from mechdesign.cli.options import BestSoFar, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror
from mechdesign.data.matrices import read_matrix
from mechdesign.design import Design, InformationProblem, optimal_information
from mechdesign.design.information import MODELS, Cells, sign_information
from mechdesign.design.information.models import Known
from mechdesign.design.summary import standing
from mechdesign.errors import InvalidInput, NoAnswer, require_one_of
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_down, rounded_up

_FILES = (".csv", ".npy")


@frozen
class Interval:
    """Two ends."""

    lower: float
    upper: float


@frozen
class OfInformation:
    """The most information there is in a report; of the noisy half; of an observation, where that is known."""

    information: Interval
    sign: float
    sign_below: float
    unbinned: float | None = if_shown()


ANSWERS = ((Designed, OfInformation),)
EXAMPLE = "information --eps 3 --model gaussian-location"


def run(
    asked: Annotated[Asked, Mirror(InformationProblem)],
    sent: Sent,
    model: Annotated[
        str, typer.Option("--model", help=f"{', '.join(MODELS)}, or a file with a chance and a slope in each line.")
    ] = "gaussian-location",
    cells: Annotated[int | None, typer.Option("--cells", help="Equal cells of a named model (40).")] = None,
    reach: Annotated[float | None, typer.Option("--reach", help="They cover +-REACH, open at the ends.")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 60.0,
    best_so_far: BestSoFar = False,
) -> None:
    require_time_limit(time_limit)
    sent.require_writable()
    problem = asked.of(InformationProblem, model=_model(model, cells, reach))
    with output.progress(f"most information about {problem.model.words}", quiet=sent.quiet):
        try:
            design = optimal_information(problem, time_limit)
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise with_options(stopped, stopped.reason) from None
            design = cast(Design, stopped.design)
            output.warn(f"{stopped.reason}: the best design so far")
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    certificate = design.certificate
    sign = sign_information(problem.epsilon, problem.model)
    low, high = 1 / certificate.upper, 1 / certificate.lower
    above = max(0.0, low / sign - 1) if sign > 0 else 0.0
    if sent.as_json:
        told = OfInformation(Interval(low, high), sign, above, problem.model.unbinned)
        output.print_json(Designed.of(design), told)
        return
    output.console.print(f"{standing(design)} for {problem.model.words}, eps = {problem.epsilon:g}\n", soft_wrap=True)
    basis = "claimed" if certificate.claimed else "proven in rational arithmetic"
    output.console.print(
        f"information in a report: {low:.6g}\n"
        f"  optimum over {certificate.valid_for}: [{rounded_down(low)}, {rounded_up(high)}] ({basis})\n"
        f"  privacy loss: {certificate.privacy_loss:.12g} (computed exactly, at most eps)\n"
        f"  the noisy sign of the observation has {sign:.6g}: the optimum has {100 * above:.4g}% more",
        soft_wrap=True,
    )
    if problem.model.unbinned is not None:
        output.console.print(f"  an observation itself has {problem.model.unbinned:.6g}", soft_wrap=True)
    sent.say_saved()


def _model(text: str, cells: int | None, reach: float | None) -> Known:
    if Path(text).suffix.lower() in _FILES:
        if cells is not None or reach is not None:
            raise InvalidInput("cells", cells if cells is not None else reach, "be left out with a file", "drop it")
        table = read_matrix(Path(text), "model", -1e300).values
        if table.shape[1] != 2:
            raise InvalidInput("model", table.shape, "have two columns: the chance of a cell, and its slope")
        return Cells(table[:, 0], table[:, 1])
    kind: Any = MODELS[require_one_of(text.strip().lower(), "model", tuple(MODELS))]
    given = {name: said for name, said in (("cells", cells), ("reach", reach)) if said is not None}
    return cast(Known, kind(**given))
