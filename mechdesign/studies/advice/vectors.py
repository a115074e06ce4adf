"""Advice on the means of several numbers of each person: designs beside published ways, at the worst values."""

from __future__ import annotations

import math
from collections.abc import Iterator

from mechdesign.errors import InvalidInput
from mechdesign.methods.sign_patterns.rivals import vector_rivals
from mechdesign.methods.sign_patterns.supports import LEAST_EPSILON, MOST_EPSILON, MOST_NUMBERS
from mechdesign.studies.advice.answer import CERTIFIED, EXACT, Advice, Expected, Rated, advice, ranked
from mechdesign.studies.advice.commands import command
from mechdesign.studies.advice.question import Numbers, Question, numbers_of
from mechdesign.studies.frequencies.vector_designs import Guesses, vector_designs
from mechdesign.values.digits import rounded_down

UNIT = "root mean squared error of an estimated mean, over the means, in the units of the data, at the worst values"
_DESIGN, _TABLE = "means.json", "means.table.json"


def advise_means(question: Question) -> Advice:
    """The way to ask each person for several numbers whose estimated means are off the least."""
    if question.has_data:
        step = "vector --data FILE --columns A,B takes a file"
        raise InvalidInput("data", "a file or numbers", "be left out for several means", step)
    numbers, users, epsilon, count = numbers_of(question), question.users(), question.epsilon, _count(question.size)
    if not LEAST_EPSILON <= epsilon <= MOST_EPSILON:
        raise InvalidInput("eps", epsilon, f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for several means")
    inputs = (numbers.interval,) * count
    designs = vector_designs(epsilon, inputs, (1.0,) * count, Guesses(["uniform"] * count, inputs), by_guess=False)
    lower = max(one.design.certificate.lower for one in designs if one.is_of_all_numbers)

    def root(variance: float) -> float:
        return numbers.interval.length / 2 * math.sqrt(variance / (count * users))

    rated = [Rated(one.name, Expected(root(lower), root(one.worst), UNIT, CERTIFIED)) for one in designs]
    for rival in vector_rivals(epsilon, count):
        error = root(rival.worst([1.0] * count))
        rated.append(Rated(rival.name, Expected(error, error, UNIT, EXACT)))
    rated = ranked(rated, [one.name for one in designs])
    why = _why(rated, count, users, root(lower))
    return advice(question.want, epsilon, users, rated, why, *_commands(question, numbers, count, users))


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


def _commands(question: Question, numbers: Numbers, count: int, users: int) -> tuple[tuple[str, ...], str | None]:
    asked = command("vector", eps=question.epsilon, count=count, bounds=numbers.domain, users=users, out=_DESIGN)
    table = command("table", _DESIGN, out=_TABLE)
    return (asked, table, command("export", _TABLE, to="javascript", out="sampler")), None
