"""The mean of equispaced values: the unbiased optimum on an interval, at the types alone, which has a faster search."""

from __future__ import annotations

import numpy as np

from mechdesign.errors import NoAnswer
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design
from mechdesign.methods.unbiased.search import answer as unbiased
from mechdesign.methods.unbiased.supports import UnbiasedOptions
from mechdesign.methods.workload.channel import discrete
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.task import Task
from mechdesign.words.classes import Unbiased
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

_EVEN = 1e-9


def fits(task: Task) -> bool:
    if isinstance(task.problem.criterion, Worst) or len(task.queries) != 1 or task.size < 3:
        return False
    steps = np.diff(task.queries[0])
    return bool(steps[0] > 0 and np.ptp(steps) <= _EVEN * steps[0])


def answer(task: Task) -> Design:
    """The quadratics of the unbiased optimum are ``p a^2 - 2 X a + nu``."""
    prior, values = task.prior, task.workload.queries.matrix[0]
    grid = np.linspace(-1.0, 1.0, task.size)
    privacy, average = task.problem.privacy, Average(Atoms(grid, prior))
    asked = Problem(inputs=SYMMETRIC, loss=Squared(), privacy=privacy, criterion=average, among=Unbiased())
    demands = Demands(max(0.8 * task.gap, 1e-6), task.clock.left(), options=UnbiasedOptions(task.size))
    try:
        found = unbiased(asked, demands)
    except NoAnswer as stopped:
        if stopped.design is None:
            raise
        found = stopped.design
    offsets, slopes = found.evidence.offsets, found.evidence.slopes  # type: ignore[attr-defined]
    steep = slopes - prior * offsets
    vector = prior * grid - steep / 2
    prices = prior * grid**2 - steep * grid - offsets * slopes
    # from [-1, 1] to the values: answers are stretched and moved, and a = middle + half a'
    middle, half = (values[0] + values[-1]) / 2, (values[-1] - values[0]) / 2
    prices = half**2 * prices + 2 * middle * half * vector + middle**2 * prior
    vector = half * vector + middle * prior
    if task.workload.weights is not None:
        prices = prices * float(task.workload.weights[0])
    law = found.mechanism
    channel = law.mass(law.points[None, :], grid[:, None])  # type: ignore[union-attr]
    channel = channel / channel.sum(axis=1, keepdims=True)
    mechanism = discrete(task, channel, channel.min(axis=0))
    task.details["rounds"] = found.report.details["rounds"]
    return task.designed(mechanism, WorkloadBound(vector[:, None], prices), found.report.solver)
