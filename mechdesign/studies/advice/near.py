"""Advice on places of which near ones need more protection than far ones: the certified optimum beside its rivals."""

from __future__ import annotations

from pathlib import Path

from mechdesign.data.places import GLOBE, FoundPlaces, read_places
from mechdesign.errors import InvalidInput
from mechdesign.field import field_of
from mechdesign.methods.pairwise.program import MOST_WHOLE
from mechdesign.methods.registry import solve
from mechdesign.studies.advice.answer import CERTIFIED, EXACT, Advice, Expected, Rated, advice
from mechdesign.studies.advice.commands import command, number
from mechdesign.studies.advice.question import Question
from mechdesign.words.criteria import Average
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.places import EUCLIDEAN, GREAT_CIRCLE
from mechdesign.words.problem import Problem

OPTIMUM = "pairwise optimum"
_DESIGN = "metric.json"
_ENCLOSED = "surely between"
_GAP = 1e-4  # four digits are shown


def advise_near(question: Question) -> Advice:
    """The least expected distance where reports of places at distance d differ by at most ``e^(eps d / per)``."""
    file, per = question.source, question.per
    assert per is not None
    if question.bounds is not None:
        raise InvalidInput("bounds", "a rectangle", "be left out with --per", "the places are those in the file")
    if file is None:
        step = "--data FILE.csv with columns x and y, or latitude and longitude"
        raise InvalidInput("data", None, "be a file that lists the places, with --per", step)
    found = read_places(file, question.column)
    problem = _problem(found, question.epsilon / per)
    rated = near_field(problem, "kilometres" if found.form == GLOBE else "units of distance")
    best = rated[0].mechanism
    prior = "all places alike" if question.column is None else f"the weights in {question.column}"
    why = (
        f"Of {len(rated)} mechanisms with eps = {number(question.epsilon)} for a distance of {number(per)}, {best} has "
        f"the least expected distance under {prior}, over the {len(problem.numbers)} places in the file.",
        "This hides near places from each other; far ones may be told apart. Without --per all are hidden alike.",
        None if question.column is None else "The weights should be known beforehand: a prior is public.",
    )
    return advice(question.want, question.epsilon, question.users_asked, rated, why, _commands(question, file))


def _problem(found: FoundPlaces, per_unit: float) -> Problem:
    if len(found.points) > MOST_WHOLE:
        step = "ask the metric command, which takes longer, or take a coarser grid of places"
        raise InvalidInput("data", len(found.points), f"hold at most {MOST_WHOLE} places to be rated", step)
    weights = found.weights
    if weights is not None and ((weights < 0).any() or not weights.sum() > 0):
        raise InvalidInput("column", "weights", "hold weights of at least 0, with a positive sum")
    prior = None if weights is None else weights / weights.sum()
    distance = GREAT_CIRCLE if found.form == GLOBE else EUCLIDEAN
    return Problem(loss=Distances(), privacy=Metric(found.points, per_unit, distance), criterion=Average(prior))


def near_field(problem: Problem, unit: str) -> list[Rated]:
    """The optimum and what is published, as `mechdesign.field_of` ranks them."""
    what = f"expected distance to the true place, in {unit}"
    design = solve(problem, gap=_GAP)
    field = field_of({OPTIMUM: design})
    certificate = design.certificate
    optimum = Expected(certificate.lower, certificate.upper, what, CERTIFIED)
    errors = {row.name: _expected(*row.ends(field.rank), what) for row in field.rows} | {OPTIMUM: optimum}
    return [Rated(row.name, errors[row.name]) for row in field.rows]


def _expected(lower: float, upper: float, what: str) -> Expected:
    return Expected(lower, upper, what, EXACT if lower == upper else _ENCLOSED)


def _commands(question: Question, file: Path) -> tuple[str, ...]:
    assert question.per is not None
    asked = {"points": file, "eps": question.epsilon, "per": question.per, "prior": question.column}
    return (
        command("metric", **asked, out=_DESIGN),
        command("table", _DESIGN, out="metric.table.json"),
        command("metric", **asked, plot="metric.png"),
    )
