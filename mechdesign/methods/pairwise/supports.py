"""Which problems flows on pairs answer: an epsilon for each pair of inputs."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Average, Lexicographic, Worst
from mechdesign.words.pairs import Pairs
from mechdesign.words.problem import Problem

MOST_INPUTS = {Worst: 600, Lexicographic: 200}
"""Of a worst case, whose systems couple all inputs twice; beside an average blocks hold all inputs."""

LEAST_SLACK = 1e-6
_CRITERIA = "the criterion must be Worst(), Average(prior) or Lexicographic(prior)"


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    privacy, criterion = problem.privacy, problem.criterion
    if not isinstance(privacy, Pairs):
        return "privacy must be an epsilon for each pair, a Pairwise or a Metric"
    if not isinstance(criterion, Worst | Average | Lexicographic):
        return _CRITERIA
    most = MOST_INPUTS.get(type(criterion), len(privacy))
    if len(privacy) > most:
        return f"inputs must be at most {most} with criterion {criterion.words} (got {len(privacy)})"
    if isinstance(criterion, Lexicographic):
        if isinstance(problem.among, InPlane):
            return "the least worst case is not known well enough where reports may be anywhere: take Worst or Average"
        if criterion.slack < LEAST_SLACK:
            return f"slack must be at least {LEAST_SLACK:g}"
        if criterion.cap is not None:
            return "the worst case must be within a slack of the least: a cap is for numbers of an interval"
    return None


def pairs_of(problem: Problem) -> Pairs:
    """The epsilons of the pairs, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.privacy, Pairs):
        raise CheckFailed("the evidence is about an epsilon for each pair of inputs")
    if not isinstance(problem.criterion, Worst | Average | Lexicographic):
        raise CheckFailed(f"the evidence is about another problem: {_CRITERIA}")
    return problem.privacy
