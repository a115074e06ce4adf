"""Which problems prices of cells answer: the information about one parameter of a model."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.words.models import Model
from mechdesign.words.problem import Problem

LEAST_EPSILON, MOST_EPSILON = 1e-2, 12.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.loss, Model):
        return "the loss must be a model with one parameter, such as models.GaussianLocation(40)"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for certified information"
    return None


def model_of(problem: object) -> Model:
    """The model, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.loss, Model):
        raise CheckFailed("the evidence is about one parameter of a model")
    return problem.loss
