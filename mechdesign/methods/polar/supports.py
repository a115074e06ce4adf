"""Which problems a split of epsilon answers: the errors of a distance and an angle, added up."""

from __future__ import annotations

from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.methods.piecewise.supports import supports as piecewise_supports
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Piecewise
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Circle, Interval, Product
from mechdesign.words.problem import Problem

_LEAST_EPSILON = 1e-3


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    inputs = problem.inputs
    if not isinstance(inputs, Product) or tuple(map(type, inputs.parts)) != (Interval, Circle):
        return "inputs must be a distance and an angle, Product((Interval(0, 1), Circle()))"
    if problem.among != Piecewise():
        return "mechanisms must be among Piecewise()"
    if problem.criterion != Worst():
        return "the criterion must be Worst()"
    if not problem.epsilon > _LEAST_EPSILON:
        return f"eps must be above {_LEAST_EPSILON:g} to be split between two coordinates"
    return next((missed for one in _coordinates(problem) if (missed := piecewise_supports(one)) is not None), None)


def coordinates_of(problem: Any) -> tuple[Problem, Problem]:
    """The problem of each coordinate with all of epsilon, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None:
        raise CheckFailed("the evidence is about a distance and an angle")
    distance, angle = _coordinates(problem)
    return distance, angle


def _coordinates(problem: Problem) -> list[Problem]:
    assert isinstance(problem.inputs, Product)
    return [evolved(problem, inputs=part) for part in problem.inputs.parts]
