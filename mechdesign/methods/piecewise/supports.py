"""Which problems a density of two heights answers: the error of one number of an interval or a circle."""

from __future__ import annotations

import math
from typing import Any

from mechdesign.errors import CheckFailed
from mechdesign.exact.piecewise import hardest_input
from mechdesign.words.classes import All, Piecewise
from mechdesign.words.criteria import At, Worst
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Custom, Power
from mechdesign.words.problem import Problem

_MOST_DIGITS = 150


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    inputs, loss = problem.inputs, problem.loss
    if not isinstance(inputs, Interval | Circle) or not isinstance(loss, Power | Custom):
        return "inputs must be an interval or a circle"
    if not isinstance(problem.among, Piecewise) and not _is_about_all(problem):
        return "mechanisms must be among Piecewise()"
    if not isinstance(problem.criterion, Worst | At):
        return "the criterion must be Worst() or At(x)"
    exponent = loss.exponent if isinstance(loss, Power) else 1.0
    if abs((exponent + 1) * math.log10(_outputs(problem).length)) > _MOST_DIGITS:
        return "the domain must leave room for its errors in doubles: rescale the data"
    if pieces_of(problem) == 2 and isinstance(loss, Power) and not is_solved_at_an_end(problem):
        return "pieces must be 1 or at least 3: outputs lie on both sides of the input"
    return None


def _is_about_all(problem: Problem) -> bool:
    """Round a circle any mechanism can be averaged: for a distance the best piecewise one is the best of all."""
    return isinstance(problem.among, All) and isinstance(problem.inputs, Circle) and isinstance(problem.loss, Power)


def domains_of(problem: Any) -> tuple[Interval | Circle, Interval | Circle]:
    """Inputs and outputs, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None:
        raise CheckFailed("the evidence is about piecewise mechanisms and the error of one number")
    assert isinstance(problem.inputs, Interval | Circle)
    return problem.inputs, _outputs(problem)


def loss_of(problem: Problem) -> Power | Custom:
    """The loss of one number and its report."""
    assert isinstance(problem.loss, Power | Custom)
    return problem.loss


def pieces_of(problem: Problem) -> int | None:
    """The most pieces that a mechanism may have; None leaves it free."""
    return problem.among.pieces if isinstance(problem.among, Piecewise) else None


def solved_at(problem: Problem) -> float:
    """The input a program for a distance loss is solved at: the given one, or the farthest from the middle."""
    if isinstance(problem.criterion, At):
        return problem.criterion.x
    assert isinstance(problem.inputs, Interval | Circle)
    return hardest_input(problem.inputs, _outputs(problem))


def is_solved_at_an_end(problem: Problem) -> bool:
    """Whether the input the program is solved at is an end of the outputs."""
    outputs = _outputs(problem)
    return not isinstance(outputs, Circle) and solved_at(problem) in (outputs.lower, outputs.upper)


def _outputs(problem: Problem) -> Interval | Circle:
    outputs = problem.among.outputs if isinstance(problem.among, Piecewise) else None
    assert isinstance(problem.inputs, Interval | Circle)
    return problem.inputs if outputs is None else outputs
