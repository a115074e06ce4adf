"""Which problems it answers: the variance under a prior on an interval, among all unbiased mechanisms."""

from __future__ import annotations

from mechdesign.methods.line import missing_of_variance
from mechdesign.values.declare import frozen, option, whole
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average
from mechdesign.words.problem import Problem

LEAST_SIZE, MOST_SIZE = 3, 513


@frozen
class UnbiasedOptions:
    """``size`` is the number of equispaced inputs that a prior is rounded to."""

    size: int = whole(
        "size",
        LEAST_SIZE,
        MOST_SIZE,
        default=33,
        metadata=option("--size", "Equispaced inputs the prior of --unbiased is rounded to."),
    )


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    return missing_of_variance(problem, Unbiased, Average)
