"""Which problems convex programs of the whole table answer: objectives of one's own."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.words.fits.objectives import outputs_of
from mechdesign.words.objectives import Formula, Objective
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-6, 16.0
MOST_ENTRIES = 10_000


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.loss, Objective | Formula):
        return "the loss must be an Objective"
    if isinstance(problem.loss, Formula) and problem.loss.coefficients is None:
        return "the loss must be the Objective itself, not a Formula of which no coefficients were read"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g}"
    if len(problem.numbers) * len(outputs_of(problem)) > MOST_ENTRIES:
        return f"the table of inputs and outputs must have at most {MOST_ENTRIES} entries"
    return None


def formula_of(problem: Any) -> Formula:
    """What was understood of the objective, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.loss, Formula):
        raise CheckFailed("the evidence is about an objective of one's own, as a Formula")
    return problem.loss
