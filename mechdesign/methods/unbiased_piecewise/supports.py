"""Which problems unbiased windows answer: a variance at the worst input of an interval."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.words.classes import UnbiasedPiecewise
from mechdesign.words.criteria import Worst
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

MOST_EPSILON = 30.0  # beyond it doubles cannot hold the window that the proof needs


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.among, UnbiasedPiecewise):
        return "mechanisms must be among UnbiasedPiecewise()"
    if not isinstance(problem.inputs, Interval):
        return "inputs must be an interval"
    if problem.loss != Power(2.0):
        return "the loss must be Squared(): the error of an unbiased mechanism is a variance"
    if not isinstance(problem.criterion, Worst):
        return "the criterion must be Worst()"
    if not isinstance(problem.privacy, Pure) or problem.epsilon > MOST_EPSILON:
        return f"eps must be one for all inputs, and at most {MOST_EPSILON:g} for an unbiased piecewise mechanism"
    return None


def inputs_of(problem: Problem) -> Interval:
    """The inputs, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or supports(problem) is not None or not isinstance(problem.inputs, Interval):
        raise CheckFailed("the evidence is about the variance of unbiased piecewise mechanisms on an interval")
    return problem.inputs
