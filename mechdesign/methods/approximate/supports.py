"""Which problems the program with a slack for each pair and output answers: a loss matrix, epsilon and delta."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.privacy import Approximate
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-3, 16.0
MOST_SLACKS = 60_000
"""Inputs times inputs times outputs: 39 categories."""


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.privacy, Approximate):
        return "privacy must be an epsilon with a delta, Approximate(eps, delta)"
    if not isinstance(problem.loss, Matrix):
        return "the loss must be a Matrix"
    if not isinstance(problem.criterion, Worst | Average):
        return "the criterion must be Worst() or Average(prior)"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
    rows, columns = problem.loss.values.shape
    if rows * rows * columns > MOST_SLACKS:
        return f"inputs times inputs times outputs must be at most {MOST_SLACKS}"
    return None


def asked_of(problem: Problem) -> tuple[Floats, Approximate]:
    """The loss matrix and the privacy, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.privacy, Approximate):
        raise CheckFailed("the evidence is about an epsilon with a delta")
    if not isinstance(problem.loss, Matrix) or not isinstance(problem.criterion, Worst | Average):
        raise CheckFailed("the evidence is about the worst case or the average of a loss matrix")
    return problem.loss.values, problem.privacy
