"""Which problems mixtures of rows answer: the noise of a workload's answers."""

from __future__ import annotations

from mechdesign.errors import CheckFailed
from mechdesign.values.declare import frozen
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import Workload

LEAST_EPSILON, MOST_EPSILON = 1e-2, 8.0


@frozen
class WorkloadOptions:
    """``route`` is one of `mechdesign.methods.workload.search.ROUTES`, by name; the usual one unless given."""

    route: str | None = None


def supports(problem: Problem) -> str | None:
    """Why the problem is not answered, if it is not."""
    if not isinstance(problem.loss, Workload):
        return "the loss must be a workload, such as workloads.Prefix(16)"
    if not LEAST_EPSILON <= problem.epsilon <= MOST_EPSILON:
        return f"eps must lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified workload"
    return None


def workload_of(problem: object) -> Workload:
    """The workload, or `CheckFailed`: evidence may be given any problem."""
    if not isinstance(problem, Problem) or not isinstance(problem.loss, Workload):
        raise CheckFailed("the evidence is about the noise of a workload")
    return problem.loss
