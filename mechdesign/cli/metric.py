"""Places or numbers that are the better protected the nearer they are: the certified optimum of metric privacy.

Reports of two places at distance d differ in likelihood by at most e^(eps d / per). --points is a CSV file with columns
x and y (a plane), latitude and longitude (in degrees; distances in kilometres), or x alone (numbers).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mechdesign import plot
from mechdesign.cli import output
from mechdesign.cli.answers import with_options
from mechdesign.cli.certified import Designed, print_finite
from mechdesign.cli.options import BestSoFar, Eps, NoCompare, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import completion
from mechdesign.data.matrices import read_matrix
from mechdesign.data.places import GLOBE, LINE, PLANE, FoundPlaces, read_places
from mechdesign.errors import InvalidInput, NoAnswer, require_epsilon, require_finite
from mechdesign.field import field_of
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.pairwise.proof import output_columns
from mechdesign.methods.pairwise.rivals import adversary_error
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.methods.result import Design, is_open
from mechdesign.methods.summary import certificate_words, gap_text, gap_words, standing
from mechdesign.methods.words import excess, heading, headline, is_lexicographic, labels_of, protected
from mechdesign.plot.designs import names_of
from mechdesign.values.declare import frozen
from mechdesign.words.classes import All, InPlane
from mechdesign.words.criteria import CRITERIA, Lexicographic, Worst, named_criterion
from mechdesign.words.finite_losses import Distances, FiniteLoss, Matrix
from mechdesign.words.pairs import Metric
from mechdesign.words.places import EUCLIDEAN, GREAT_CIRCLE
from mechdesign.words.problem import Problem

_LOSSES = {"euclidean": 1.0, "distance": 1.0, "squared": 2.0}


@frozen
class Rival:
    """A published mechanism: its expected loss between two ends, and how far above the optimum it is at least.

    Beside a lexicographic optimum it is the worst-case loss, above that of the design, which is next to the least.
    """

    name: str
    lower: float
    upper: float
    above_optimum: float | None


@frozen
class Around:
    """Beside a design for pairs: rivals, what a Bayesian adversary is left with, what must be said of privacy."""

    notes: tuple[str, ...]
    comparison: tuple[Rival, ...] | None = output.if_shown()
    adversary_error: float | None = output.if_shown()


ANSWERS = ((Designed, Around),)
EXAMPLE = """\
examples
metric --points corners.csv --eps 1 --prior people"""


def run(
    points: Annotated[Path, typer.Option("--points", help="Places, a line each: .csv with named columns.")],
    eps: Eps,
    sent: Sent,
    per: Annotated[
        float | None, typer.Option("--per", help="Of so many units (kilometres on the globe); 1 unless given.")
    ] = None,
    loss: Annotated[
        str, typer.Option("--loss", help="euclidean, squared, or a matrix: .csv or .npy.", metavar="LOSS")
    ] = "euclidean",
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion", help="prior (default), worst or lexicographic.", autocompletion=completion(lambda: CRITERIA)
        ),
    ] = "prior",
    slack: Annotated[
        float | None,
        typer.Option("--slack", help="Worst case at most 1 + S times the least.", metavar="S"),
    ] = None,
    prior: Annotated[
        str | None, typer.Option("--prior", help="Column of --points with weights.", metavar="COLUMN")
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Reports may be any place of the plane.")] = False,
    gap: Annotated[float | None, typer.Option("--gap", help="Relative gap of the proven bounds to reach.")] = None,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 300.0,
    best_so_far: BestSoFar = False,
) -> None:
    require_time_limit(time_limit)
    sent.require_writable()
    output.require_apart((sent.out, sent.plot), (points,))
    problem = _problem(read_places(points, prior), require_epsilon(eps), per, loss, criterion, slack, free=free)
    wide = _usual_gap(problem) if gap is None else gap
    answer(problem, wide, time_limit, sent, best_so_far=best_so_far, compare=not no_compare)


def _usual_gap(problem: Problem) -> float | None:
    """A gap within reach of many places; None is that of the method."""
    size, is_worst = len(problem.numbers), isinstance(problem.criterion, Worst)
    if isinstance(problem.among, InPlane):
        return 1e-3 if size <= 16 else 1e-2 if size <= 40 else 0.1
    if size <= 128:
        return None
    return 1e-3 if size <= (200 if is_worst else 600) else 0.1


def _problem(
    found: FoundPlaces, eps: float, per: float | None, loss: str, criterion: str, slack: float | None, *, free: bool
) -> Problem:
    if per is None and found.form == GLOBE:
        step = "--per 1 if eps is for a kilometre, --per 0.1 for a hundred metres"
        raise InvalidInput("per", None, "say for how many kilometres eps is, where places are on the globe", step)
    unit = 1.0 if per is None else require_finite(per, "per")
    if not unit > 0:
        raise InvalidInput("per", per, "be above 0", "for example --per 100, if eps is for a hundred units")
    order = np.argsort(found.points[:, 0], kind="stable") if found.form == LINE else np.arange(len(found.points))
    names = None if found.names is None else tuple(found.names[k] for k in order.tolist())
    weights = None if found.weights is None else _shares(found.weights[order])
    if weights is not None and CRITERIA.get(criterion) is Worst:
        raise InvalidInput("prior", "a column", "be left out for the worst case", "drop --prior")
    distance = GREAT_CIRCLE if found.form == GLOBE else EUCLIDEAN
    privacy = Metric(found.points[order], eps / unit, distance)
    asked = named_criterion(criterion, weights, slack)
    if free:
        if found.form != PLANE:
            rule = "come with columns x and y: reports are places of a plane"
            raise InvalidInput("free", found.form, rule, "drop --free")
        if isinstance(asked, Lexicographic):
            raise InvalidInput("criterion", criterion, "be prior or worst with --free", "drop --free")
        if loss not in _LOSSES:
            raise InvalidInput("loss", loss, "be euclidean or squared with --free")
    if loss in _LOSSES:
        losses: FiniteLoss = Distances(_LOSSES[loss], names, None if free else names)
    else:
        matrix = read_matrix(_matrix_file(loss))
        values = matrix.values[order] if len(matrix.values) == len(order) else matrix.values
        losses = Matrix(values, names, matrix.output_labels)
    return Problem(loss=losses, privacy=privacy, criterion=asked, among=InPlane() if free else All())


def _matrix_file(loss: str) -> Path:
    if not loss.endswith((".csv", ".npy")):
        raise InvalidInput("loss", loss, "be euclidean, squared, or a matrix in a .csv or .npy file")
    return Path(loss)


def _shares(weights: np.ndarray) -> np.ndarray:
    if (weights < 0).any() or not weights.sum() > 0:
        raise InvalidInput("prior", "a column", "hold weights of at least 0, with a positive sum")
    return np.asarray(weights / weights.sum())


# -- the answer to a problem with an epsilon for each pair ------------------------------------------------------------


def answer(
    problem: Problem, gap: float | None, seconds: float, sent: Sent, *, best_so_far: bool, compare: bool
) -> None:
    """One certified optimum: certificate, mechanism, rivals, and what is not protected."""
    notes = pairs_of(problem).notes
    for note in notes:
        output.warn(note)
    with output.progress(f"certified optimum, {protected(problem)}", quiet=sent.quiet) as say:

        def heard(lower: float, upper: float) -> None:
            ends = f", between {lower:.6g} and {upper:.6g}" if 0 < lower <= upper else ""
            say(f"certified optimum, {protected(problem)}{ends}")

        design = _solved(problem, gap, seconds, heard, best_so_far=best_so_far)
        say("published mechanisms")
        around = Around(notes)
        if compare and sent.shows_field:
            around = Around(notes, _rivals(design), _adversary_error(design))
    if is_open(design):
        said = design.report.details.get("stopped", "the search ended")
        output.warn(
            f"{said}: the best design so far, proven to within a relative gap of {gap_text(design.certificate)}"
        )
    if sent.plot is not None:
        sent.draw(plot.of(design))
    sent.keep(design)
    if sent.as_json:
        output.print_json(Designed.of(design), around)
        return
    _print(design, around)
    sent.say_saved()


def _solved(problem: Problem, gap: float | None, seconds: float, say: Any, *, best_so_far: bool) -> Design:
    from mechdesign.methods.registry import solve

    try:
        return solve(problem, seconds, gap=gap, say=say)
    except NoAnswer as stopped:
        if best_so_far and stopped.design is not None:
            found: Design = stopped.design
            return found
        raise with_options(stopped, stopped.reason) from None


def _rivals(design: Design) -> tuple[Rival, ...]:
    """Published mechanisms, the best first."""
    field = field_of(design)
    return tuple(Rival(row.name, *row.ends(field.rank), row.above_optimum) for row in field.rivals)


def _adversary_error(design: Design) -> float | None:
    """What is left to an adversary who knows the prior."""
    problem, table = design.problem, design.mechanism
    assert isinstance(problem, Problem)
    assert isinstance(table, Discrete)
    if problem.weights is None:
        return None
    wide = np.zeros((len(table.inputs), problem.table.width))
    wide[:, output_columns(table, problem)] = table.probabilities
    return adversary_error(wide, problem)


def _print(design: Design, around: Around) -> None:
    problem, table = design.problem, design.mechanism
    assert isinstance(problem, Problem)
    assert isinstance(table, Discrete)
    what = headline(problem)
    output.console.print(f"{standing(design)} for {heading(problem)}\n", soft_wrap=True)
    output.console.print(certificate_words(design.certificate, what, table), soft_wrap=True)
    output.console.print(gap_words(design.certificate), soft_wrap=True)
    if around.adversary_error is not None:
        guess = f"{around.adversary_error:.6g}"
        known = "a Bayesian adversary who knows the prior and guesses one of the places"
        output.console.print(f"  {known} is left with an expected loss of {guess}")
    output.console.print()
    print_finite(table, *names_of(table, labels_of(problem)))
    if around.comparison:
        rows = [
            [
                row.name,
                output.number(row.lower),
                output.number(row.upper),
                output.above(row.above_optimum, at_least=True),
            ]
            for row in around.comparison
        ]
        by = "worst-case loss" if is_lexicographic(problem) else what
        output.print_table(f"Rivals: {by}", ["mechanism", "at least", "at most", excess(problem)], rows)
