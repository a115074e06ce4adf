"""Which problems it answers: the variance at the worst input of an interval, among all unbiased mechanisms."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

_LEAST_EPSILON, _MOST_EPSILON = 1e-3, 12.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.among, Unbiased):
        return "mechanisms must be among Unbiased()"
    if not isinstance(problem.inputs, Interval):
        return "inputs must be an interval"
    if problem.loss != Power(2.0):
        return "the loss must be Squared(): the error of an unbiased mechanism is a variance"
    if not isinstance(problem.criterion, Worst):
        return "the criterion must be Worst()"
    if not _LEAST_EPSILON <= problem.epsilon <= _MOST_EPSILON:
        return f"eps must lie between {_LEAST_EPSILON:g} and {_MOST_EPSILON:g} for a certified unbiased optimum"
    return None


def inputs_of(problem: Any) -> Interval:
    """The inputs, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None or not isinstance(problem.inputs, Interval):
        raise CheckFailed("the evidence is about the worst variance of unbiased mechanisms")
    return problem.inputs
