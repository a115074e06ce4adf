"""Two or three queries whose mirror images leave few types: both ends from one program, proven in their space."""

from __future__ import annotations

import math

import numpy as np

from mechdesign.errors import NoAnswer
from mechdesign.methods.result import Design
from mechdesign.methods.workload.channel import channel_table
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.space import few_queries, has_few_orbits
from mechdesign.methods.workload.task import Task
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst

_INSIDE = 0.1  # of the gap: an estimator's worst type is off by far more than its average is
_FLOOR = 0.1  # of the gap: the least prior of a type, relative to an even one


def fits(task: Task) -> bool:
    return len(task.queries) <= task.size and has_few_orbits(task.queries.T, _prior(task))


def answer(task: Task) -> Design:
    prior, floor = _prior(task), _FLOOR * task.gap / task.size
    found = few_queries(task.queries.T, task.ratio, prior, floor, _INSIDE * task.gap, task.clock, task.say)
    if found is None:
        raise NoAnswer("the time limit was reached" if task.clock.is_over else "the search ended", 0.0, math.inf)
    weights = task.workload.weights
    roots = np.ones(len(task.queries)) if weights is None else np.sqrt(weights)
    evidence = WorkloadBound(found.dual / roots, found.prices, found.prior if prior is None else None)
    task.details["rounds"] = found.rounds
    mechanism = channel_table(task, found.bits, found.weights, found.prior)
    return task.designed(mechanism, evidence, "cutting planes in the space of the answers (HiGHS)")


def _prior(task: Task) -> Floats | None:
    """That of the problem; for the worst type none."""
    return None if isinstance(task.problem.criterion, Worst) else task.prior
