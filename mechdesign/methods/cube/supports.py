"""Which problems grids answer: the variance of two or three numbers together, at the worst inputs or under a prior."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, cast

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.methods.sign_patterns.supports import half_lengths, several_supports
from mechdesign.methods.workload.supports import LEAST_EPSILON
from mechdesign.values.declare import evolved, field, frozen, optional
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Interval, Product
from mechdesign.words.problem import Problem

USUAL_LEVELS = {2: 9, 3: 5}
"""Of each number, by how many numbers there are."""

LEVELS = 3, 5, 9, 17  # their places on [-1, 1] are doubles


def _levels(said: Any) -> int:
    if said not in LEVELS:
        raise InvalidInput("levels", said, f"be one of {', '.join(map(str, LEVELS))}")
    return int(said)


@frozen
class CubeOptions:
    """``levels`` is how many values each number is rounded to: 9 of two numbers and 5 of three unless given."""

    levels: int | None = field(default=None, converter=optional(_levels))


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    missed = several_supports(problem)
    if missed is not None:
        return missed
    if not isinstance(problem.criterion, Worst | Average):
        return "the criterion must be Worst() or Average(prior)"
    if isinstance(problem.criterion.prior, Cells):
        return "the prior must be weights on points or a density"
    halves = half_lengths(_sides(problem))
    if len(halves) not in USUAL_LEVELS:
        return "there must be 2 or 3 numbers"
    if len(set(halves)) > 1:
        return "all intervals must have the same length"
    if problem.epsilon < LEAST_EPSILON:
        return f"eps must be at least {LEAST_EPSILON:g} for a grid"
    return None


def count_and_half(problem: Any) -> tuple[int, Fraction]:
    """How many numbers there are and half their range, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None:
        raise CheckFailed("the evidence is about the variance of two or three unbiased numbers of one range")
    halves = half_lengths(_sides(problem))
    return len(halves), halves[0]


def _sides(problem: Problem) -> tuple[Interval, ...]:
    """The interval of each number."""
    assert isinstance(problem.inputs, Product)
    return cast(tuple[Interval, ...], problem.inputs.parts)


def of_one_number(problem: Problem) -> Problem:
    """What is asked of several numbers under a prior, asked of one of them."""
    return evolved(problem, inputs=_sides(problem)[0])
