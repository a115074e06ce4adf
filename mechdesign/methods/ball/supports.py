"""Which problems directions answer: the worst variance of an unbiased vector of bounded length."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Worst
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Vectors

LEAST_EPSILON, MOST_EPSILON = 1e-3, 8.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.inputs, Vectors):
        return "inputs must be a Sphere(d), a Ball(d) or a CrossPolytope(d)"
    if not isinstance(problem.among, Unbiased):
        return "mechanisms must be among Unbiased()"
    if problem.loss != Power(2.0):
        return "the loss must be Squared(): the error of an unbiased mechanism is a variance"
    if not isinstance(problem.criterion, Worst):
        return "the criterion must be Worst()"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for directions"
    return None


def vectors_of(problem: Any) -> Vectors:
    """The inputs, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None or not isinstance(problem.inputs, Vectors):
        raise CheckFailed("the evidence is about the worst variance of an unbiased vector of bounded length")
    return problem.inputs
