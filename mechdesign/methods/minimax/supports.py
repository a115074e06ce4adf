"""Which problems the worst case over an interval is answered for, and the one option that only this search has."""

from __future__ import annotations

from mechdesign.methods.line import missing_on_line
from mechdesign.values.declare import frozen, whole
from mechdesign.words.criteria import Worst
from mechdesign.words.problem import Problem

LEAST_FINE, MOST_FINE = 64, 65536
"""Spacings of the finest grid that a search may use."""


@frozen
class MinimaxOptions:
    """``most_outputs`` limits the finest grid that the search may use on the way."""

    most_outputs: int = whole("most_outputs", LEAST_FINE + 1, MOST_FINE + 1, default=16385)


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not.

    Exponents 1 and 2 are proven in rational arithmetic, others above 1 in doubles: the certificate says ``claimed``.
    """
    if not isinstance(problem.criterion, Worst):
        return "the criterion must be Worst()"
    return missing_on_line(problem, rational=False)
