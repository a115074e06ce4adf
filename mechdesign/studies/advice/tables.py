"""Advice on tables of several attributes: the proven optimum beside published mechanisms, by the noise in a cell."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import cast

import numpy as np

from mechdesign.errors import InvalidData, InvalidInput, NoAnswer
from mechdesign.methods.registry import solve
from mechdesign.methods.result import Design
from mechdesign.methods.workload.rivals import rival_noises
from mechdesign.methods.workload.supports import LEAST_EPSILON, MOST_EPSILON
from mechdesign.studies.advice.answer import CERTIFIED, EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command, to_an_answer
from mechdesign.studies.advice.question import Question, values_of
from mechdesign.values.digits import rounded_down
from mechdesign.words.criteria import Average
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Marginals, Workload, parse_workload

OPTIMUM = "workload optimum"
UNIT = "root mean square of the noise in the share of a cell, over the cells of all tables"
_DESIGN, _TABLE = "tables.json", "tables.table.json"
_PROTOCOLS = {
    "one table, subset selection": "one table, subset selection",
    "subset selection": "ss",
    "optimised unary": "oue",
    "optimised local hashing": "olh",
    "hadamard response": "hr",
    "randomised response": "grr",
}
"""Rivals that tables are no stranger to, and what they are called elsewhere."""
_GAP = 0.01  # of the noise: an error, its root, is within half of it
_SECONDS = 60.0


def advise_tables(question: Question) -> Advice:
    """The least noise in the cells of all tables, for users that are spread evenly over the combinations."""
    workload = _tables(question.attributes)
    users, epsilon = _users(question, workload.size), question.epsilon
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput("eps", epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for tables")
    problem = Problem(loss=Workload(workload), privacy=Pure(epsilon), criterion=Average())
    design, gap = _designed(problem)
    cells = len(workload.names)

    def root(noise: float) -> float:
        return math.sqrt(noise / (users * cells))

    rated = _rated(problem, design, root)
    above = 100 * (rated[1].expected_error.upper / rated[0].expected_error.upper - 1)
    why = (
        f"Of {len(rated)} mechanisms for {workload.words} and {users} users, {rated[0].mechanism} has the least noise, "
        f"computed with the best linear estimator for each; {rated[1].mechanism}, the next, has {above:.3g}% more.",
        _floor(rated, root(design.certificate.lower)),
        "All combinations are one person's type: the tables of a report fit together, and eps is for all of them.",
        "What users differ in by chance comes on top; it is in a survey without privacy as well.",
    )
    return advice(question.want, epsilon, users, rated, why, *_commands(question, users, gap))


def _tables(said: str | None) -> Marginals:
    if said is None:
        step = "for example --attributes 4x4x3,2: three attributes, tables of two"
        raise InvalidInput("attributes", None, "be given: the sizes, and of how many a table is", step)
    try:
        found = parse_workload(f"marginals:{said}")
    except InvalidInput as wrong:
        raise InvalidInput("attributes", said, f"be sizes AxBxC[,ORDER]: {wrong}") from None
    assert isinstance(found, Marginals)
    return found


def _designed(problem: Problem) -> tuple[Design, float | None]:
    """The optimum, or what is nearest to it, as its interval says; and the gap that the same search ends within."""
    try:
        return solve(problem, _SECONDS, gap=_GAP), _GAP
    except NoAnswer as stopped:
        if stopped.design is None:
            raise
        return cast(Design, stopped.design), stopped.gap_within_reach


def _floor(rated: list[Rated], least: float) -> str:
    """What no mechanism goes below; where the best is no list of reports, that the commands have the next."""
    text = f"No mechanism with unbiased linear estimates has less than {rounded_down(least, 4)}, proven."
    if rated[0].mechanism != OPTIMUM:
        text += f" {rated[0].mechanism} has no table of reports here; the commands make the {OPTIMUM} as far as found."
    return text


def _rated(problem: Problem, design: Design, root: Callable[[float], float]) -> list[Rated]:
    assert problem.weights is not None
    ends = root(design.certificate.lower), root(design.certificate.upper)
    found = [Rated(OPTIMUM, Expected(*ends, UNIT, CERTIFIED))]
    noises = rival_noises(problem, problem.weights)
    for name, known in _PROTOCOLS.items():
        if name in noises:
            error = root(float(noises[name] @ problem.weights))
            found.append(Rated(known, Expected(error, error, UNIT, EXACT)))
    return ranked(found, (OPTIMUM,))


def _users(question: Question, types: int) -> int:
    """Those asked for, or those in data that hold the number of each one's combination."""
    held = values_of(question)
    if held is not None and not (np.isin(held, np.arange(types))).all():
        rule = f"be each user's combination by its number, 0 to {types - 1}, where the last attribute changes first"
        raise InvalidData("data", "values", rule, "number the combinations, or leave --data out and give --users")
    return question.users(None if held is None else held.size)


def _commands(question: Question, users: int, gap: float | None) -> tuple[tuple[str, ...], str | None]:
    asked = command(
        "workload",
        eps=question.epsilon,
        queries=f"marginals:{question.attributes}",
        users=users,
        gap=gap,
        best_so_far=gap is None,
        out=_DESIGN,
    )
    then, later = to_an_answer(_TABLE, question.source, question.column)
    return (asked, command("table", _DESIGN, out=_TABLE), *then), later
