"""One parameter of a model (a normal mean, or any cells): the reports with the most information about it, proven.

The certificate is about the inverse of the Fisher information, n times the variance of an efficient estimate.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.options import BestSoFar, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.data.matrices import read_matrix
from mechdesign.errors import InvalidInput, NoAnswer, require_one_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design
from mechdesign.methods.summary import standing
from mechdesign.methods.words import heading
from mechdesign.studies.designed import Designed
from mechdesign.studies.optimum import with_options
from mechdesign.values.declare import frozen
from mechdesign.values.digits import rounded_down, rounded_up
from mechdesign.words.criteria import Average
from mechdesign.words.models import MODELS, Binned, Model
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_FILES = (".csv", ".npy")


@frozen
class Interval:
    """Two ends."""

    lower: float
    upper: float


@frozen
class OfInformation:
    """The most information there is in a report; of the noisy sign; of an observation, where that is known.

    ``sign_of`` says what has the sign, and ``sign_in_class`` whether mechanisms that see the cell alone can tell it:
    then ``sign_below`` is how much more the optimum has at least, as a share.
    """

    information: Interval
    sign: float
    sign_of: str
    sign_in_class: bool
    sign_below: float | None
    unbinned: float | None = output.if_shown()

    @property
    def words(self) -> str:
        said = f"the noisy sign of {self.sign_of} has {self.sign:.6g}"
        if self.sign_below is not None:
            return f"{said}: the optimum has {100 * self.sign_below:.4g}% more"
        return f"{said}, {self.sign / self.information.lower:.4g} times that optimum: the cell alone does not tell it"


ANSWERS = ((Designed, OfInformation),)
EXAMPLE = "information --eps 3 --model gaussian-location"


def run(
    asked: Annotated[Asked, Mirror(Pure, Demands)],
    sent: Sent,
    model: Annotated[
        str,
        typer.Option(
            "--model",
            help=f"{', '.join(MODELS)}, or a file with a chance and a slope in each line.",
            autocompletion=completion(lambda: MODELS),
        ),
    ] = "gaussian-location",
    cells: Annotated[int | None, typer.Option("--cells", help="Equal cells of a named model (40).")] = None,
    reach: Annotated[float | None, typer.Option("--reach", help="They cover +-REACH, open at the ends.")] = None,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 60.0,
    best_so_far: BestSoFar = False,
) -> None:
    from mechdesign.methods.registry import solve

    require_time_limit(time_limit)
    sent.require_writable()
    chosen = _model(model, cells, reach)
    problem = Problem(loss=chosen, privacy=asked.of(Pure), criterion=Average())
    with output.progress(f"most information about {chosen.words}", quiet=sent.quiet):
        try:
            design = solve(problem, time_limit, gap=asked["gap"], method="information")
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise with_options(stopped, stopped.reason) from None
            design = cast(Design, stopped.design)
            output.warn(f"{stopped.reason}: the best design so far")
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    certificate = design.certificate
    told = _told(problem.epsilon, chosen, Interval(1 / certificate.upper, 1 / certificate.lower))
    if sent.as_json:
        output.print_json(Designed.of(design), told)
        return
    output.console.print(f"{standing(design)} for {heading(problem)}\n", soft_wrap=True)
    ends = f"{rounded_down(told.information.lower)}, {rounded_up(told.information.upper)}"
    basis = "claimed" if certificate.claimed else "proven in rational arithmetic"
    output.console.print(
        f"information in a report: {told.information.lower:.6g}\n"
        f"  optimum over {certificate.valid_for}: [{ends}] ({basis})\n"
        f"  privacy loss: {certificate.privacy_loss:.12g} (computed exactly, at most eps)\n"
        f"  {told.words}",
        soft_wrap=True,
    )
    if chosen.unbinned is not None:
        output.console.print(f"  an observation itself has {chosen.unbinned:.6g}", soft_wrap=True)
    sent.say_saved()


def _told(epsilon: float, model: Model, information: Interval) -> OfInformation:
    from mechdesign.methods.information.search import cells_tell_sign, sign_information

    found, is_told = sign_information(epsilon, model), cells_tell_sign(model)
    above = information.lower / found - 1 if found > 0 else 0.0
    of = "the slope of the cell" if isinstance(model, Binned) else "the observation"
    return OfInformation(information, found, of, is_told, max(0.0, above) if is_told else None, model.unbinned)


def _model(text: str, cells: int | None, reach: float | None) -> Model:
    if Path(text).suffix.lower() in _FILES:
        if cells is not None or reach is not None:
            raise InvalidInput("cells", cells if cells is not None else reach, "be left out with a file", "drop it")
        table = read_matrix(Path(text), "model", -1e300).values
        if table.shape[1] != 2:
            raise InvalidInput("model", table.shape, "have two columns: the chance of a cell, and its slope")
        return Binned(table[:, 0], table[:, 1])
    kind: Any = MODELS[require_one_of(text.strip().lower(), "model", tuple(MODELS))]
    given = {name: said for name, said in (("cells", cells), ("reach", reach)) if said is not None}
    return cast(Model, kind(**given))
