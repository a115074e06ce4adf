"""Which problems the method of one base measure answers: one epsilon for all inputs, and a loss matrix."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.privacy, Pure):
        return "privacy must be one epsilon for all inputs, Pure(eps)"
    if not isinstance(problem.loss, Matrix):
        return "the loss must be a Matrix"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified optimum"
    if isinstance(problem.criterion, Lexicographic) and problem.criterion.cap is not None:
        return "the worst case must be within a slack of the least: a cap is for numbers of an interval"
    return None


def losses_of(problem: Problem) -> Floats:
    """The loss matrix, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.privacy, Pure):
        raise CheckFailed("the evidence is about a loss matrix and one epsilon for all inputs")
    if not isinstance(problem.loss, Matrix):
        raise CheckFailed("the evidence is about a loss matrix")
    return problem.loss.values
