"""Advice on the means of several numbers of each person: sign patterns beside published ways, at the worst values."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mechdesign.errors import InvalidInput
from mechdesign.methods.registry import solve
from mechdesign.methods.sign_patterns.rivals import drawn_by_wang, vector_rivals
from mechdesign.methods.sign_patterns.supports import LEAST_EPSILON, MOST_EPSILON, MOST_NUMBERS
from mechdesign.studies.advice.answer import CERTIFIED, EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command
from mechdesign.studies.advice.question import Numbers, Question, numbers_of
from mechdesign.values.digits import rounded_down
from mechdesign.words.classes import Unbiased
from mechdesign.words.domains import cube_of
from mechdesign.words.losses import Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

OURS = "sign patterns"
UNIT = "root mean squared error of an estimated mean, over the means, in the units of the data, at the worst values"
_DESIGN, _TABLE = "means.json", "means.table.json"
_SHIPPED = ("duchi", "pm", "laplace")
"""Mechanisms for one number that become tables."""


def advise_means(question: Question) -> Advice:
    """The way to ask each person for several numbers whose estimated means are off the least."""
    if question.has_data:
        step = "vector --data FILE --columns A,B takes a file"
        raise InvalidInput("data", "a file or numbers", "be left out for several means", step)
    numbers, users, epsilon, count = numbers_of(question), question.users(), question.epsilon, _count(question.size)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput("eps", epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for several means")
    problem = Problem(inputs=cube_of(count), loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
    certificate = solve(problem, method="sign_patterns").certificate

    def root(variance: float) -> float:
        return numbers.interval.length / 2 * math.sqrt(variance / (count * users))

    rated = [Rated(OURS, Expected(root(certificate.lower), root(certificate.upper), UNIT, CERTIFIED))]
    for rival in vector_rivals(epsilon, count):
        error = root(rival.worst([1.0] * count))
        rated.append(Rated(rival.name, Expected(error, error, UNIT, EXACT)))
    rated = ranked(rated, (OURS,))
    why = _why(rated, count, users, root(certificate.lower))
    return advice(question.want, epsilon, users, rated, why, *_commands(question, numbers, rated, count, users))


def _count(size: int | None) -> int:
    if size is None:
        raise InvalidInput("size", None, "be given: how many numbers each person has", "for example --size 5")
    if size > MOST_NUMBERS:
        raise InvalidInput("size", size, f"be 2 to {MOST_NUMBERS}", "draw some of the numbers")
    return size


def _why(rated: list[Rated], count: int, users: int, least: float) -> Iterator[str]:
    above = 100 * (rated[1].expected_error.upper / rated[0].expected_error.upper - 1)
    yield (
        f"Of {len(rated)} ways to ask {users} people for {count} numbers under one epsilon, {rated[0].mechanism} has "
        f"the least error; {rated[1].mechanism}, the next, has {above:.3g}% more."
    )
    yield f"No unbiased mechanism has less than {rounded_down(least, 4)}, proven."
    yield "Where most values lie near the middle others are better: vector --guess computes it for a guess."


def _commands(
    question: Question, numbers: Numbers, rated: list[Rated], count: int, users: int
) -> tuple[tuple[str, ...], str | None]:
    asked = command("vector", eps=question.epsilon, count=count, bounds=numbers.domain, users=users, out=_DESIGN)
    key, _, way = next(one.mechanism for one in rated if one.mechanism.split(",")[0] in (OURS, *_SHIPPED)).partition(
        ", "
    )
    if key == OURS:
        table = command("table", _DESIGN, out=_TABLE)
    else:
        share = question.epsilon / (count if way == "split" else drawn_by_wang(question.epsilon, count))
        table = command("table", eps=share, mechanism=key, domain=numbers.domain, out=_TABLE)
    return (asked, table, command("export", _TABLE, to="javascript", out="sampler")), None
