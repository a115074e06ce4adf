"""Which problems sign patterns answer: the variance of several numbers together at the worst inputs of a box."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Interval, Product
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-3, 8.0
MOST_NUMBERS = 1000


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    missed = several_supports(problem)
    if missed is None and not isinstance(problem.criterion, Worst):
        return "the criterion must be Worst()"
    return missed


def several_supports(problem: Problem) -> str | None:
    """Why the problem is not about several unbiased numbers, whatever its criterion is."""
    if not isinstance(problem.among, Unbiased):
        return "mechanisms must be among Unbiased()"
    inputs = problem.inputs
    if not isinstance(inputs, Product) or not all(isinstance(part, Interval) for part in inputs.parts):
        return "inputs must be several intervals, Product((Interval(-1, 1), Interval(-1, 1)))"
    if not 2 <= len(inputs.parts) <= MOST_NUMBERS:
        return f"there must be 2 to {MOST_NUMBERS} numbers"
    if problem.loss != Power(2.0):
        return "the loss must be Squared(): the error of an unbiased mechanism is a variance"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for sign patterns"
    return None


def halves_of(problem: Any) -> list[Fraction]:
    """Half the length of each interval, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None or not isinstance(problem.inputs, Product):
        raise CheckFailed("the evidence is about the worst variance of several unbiased numbers")
    return half_lengths(problem.inputs.parts)


def half_lengths(sides: Iterable[Any]) -> list[Fraction]:
    """Half the length of each interval, exactly."""
    return [(Fraction(side.upper) - Fraction(side.lower)) / 2 for side in sides]
