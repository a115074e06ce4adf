"""Which problems the bilinear program of pieces answers: those of the reduction, for whole powers and few pieces."""

from __future__ import annotations

from mechdesign.methods.piecewise.supports import pieces_of, supports as reduction_supports
from mechdesign.values.declare import evolved
from mechdesign.words.classes import Piecewise
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

_USUAL_PIECES, _MOST_PIECES = 3, 8
_MOST_EPSILON = 16.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.among, Piecewise):
        return "mechanisms must be among Piecewise()"
    pieces = pieces_to_search(problem)
    missed = reduction_supports(with_pieces(problem, pieces))
    if missed is not None:
        return missed
    if not isinstance(problem.loss, Power) or problem.loss.exponent != int(problem.loss.exponent):
        return "the loss must be a whole power of the distance"
    if not 2 <= pieces <= _MOST_PIECES:
        return f"pieces must lie between 2 and {_MOST_PIECES}"
    return None if problem.epsilon <= _MOST_EPSILON else f"eps must be at most {_MOST_EPSILON:g}"


def pieces_to_search(problem: Problem) -> int:
    """How many pieces the program has, which it has to know."""
    return pieces_of(problem) or _USUAL_PIECES


def with_pieces(problem: Problem, pieces: int | None) -> Problem:
    """The same problem for another number of pieces."""
    assert isinstance(problem.among, Piecewise)
    return evolved(problem, among=evolved(problem.among, pieces=pieces))
