"""Which problems bins answer: an average under a prior on an interval."""

from __future__ import annotations

from mechdesign.methods.line import missing_on_line
from mechdesign.words.criteria import Average
from mechdesign.words.problem import Problem

MOST_ATOMS = 1000
"""More values than this are gathered in cells."""


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.criterion, Average):
        return "the criterion must be Average(prior)"
    return missing_on_line(problem)
