"""Which problems it answers: the variance at the worst input of an interval, among all unbiased mechanisms."""

from __future__ import annotations

from mechdesign.methods.line import missing_of_variance
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Worst
from mechdesign.words.problem import Problem


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    return missing_of_variance(problem, Unbiased, Worst)
