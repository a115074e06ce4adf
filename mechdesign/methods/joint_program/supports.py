"""Which problems the bilinear program of pairs answers: those of the closed form, the share on one side of half."""

from __future__ import annotations

from mechdesign.methods.joint.grouping import grouping_of
from mechdesign.methods.joint.supports import supports as groups_supports
from mechdesign.words.problem import Problem

LEAST_PROGRAM_EPSILON, MOST_PROGRAM_EPSILON = 0.01, 8.0


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    missed = groups_supports(problem)
    if missed is not None:
        return missed
    asked = grouping_of(problem)
    if not asked.is_pair:
        return "the group must be 2, with two categories"
    if asked.goal().low <= 0:
        return "the share must lie clearly on one side of half"
    if not LEAST_PROGRAM_EPSILON <= asked.epsilon <= MOST_PROGRAM_EPSILON:
        return (
            f"eps must lie between {LEAST_PROGRAM_EPSILON:g} and {MOST_PROGRAM_EPSILON:g}: "
            "beyond that the solver's tolerance would be seen"
        )
    return None
