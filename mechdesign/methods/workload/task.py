"""What all routes to the least noise of a workload share: its numbers, its time, and who hears of bounds."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.methods.workload.columns import Columns
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats
from mechdesign.words.problem import Problem

_GAP = 1e-3  # unless another is demanded
COLUMNS_SHARE = 0.6  # of the time for rows, where a proof follows that takes time of its own


class Task:
    """A problem with what is demanded of its answer."""

    def __init__(self, problem: Problem, demands: Demands) -> None:
        self.problem, self.gap, self.clock, self.say = problem, demands.within(_GAP), demands.clock(), demands.say
        self.workload = workload_of(problem)
        self.queries = self.workload.weighted
        self.gram = self.queries.T @ self.queries
        self.ratio = math.exp(problem.epsilon)
        self.size = self.workload.size
        self.details: dict[str, Any] = {}

    @property
    def prior(self) -> Floats:
        """That of the problem, which sums to 1."""
        prior = self.problem.weights
        assert prior is not None
        return np.asarray(prior / prior.sum())

    def known(self, prior: Floats) -> float:
        return float((self.queries**2).sum(axis=0) @ prior)

    def is_alike(self, prior: Floats) -> bool:
        """Whether exchanging types changes nothing."""
        off = self.gram[~np.eye(self.size, dtype=bool)]
        return bool(np.ptp(np.diagonal(self.gram)) == 0 and np.ptp(off) == 0 and np.ptp(prior) == 0)

    def part(self, share: float) -> Clock:
        """A part of the time that is left."""
        left = self.clock.left()
        return Clock(None if left is None else share * left)

    def columns(self) -> Columns:
        return Columns(self.gram, self.ratio, self.queries[0] if len(self.queries) == 1 else None)

    def dual(self, inverse: Floats) -> Floats:
        """The matrix X of the proof: ``M^-1 W'``, or ``M^-1`` where there are more queries than types."""
        if len(self.queries) > self.size:
            return (inverse + inverse.T) / 2
        return np.asarray(inverse @ self.workload.queries.matrix.T)

    def designed(self, mechanism: Discrete, evidence: WorkloadBound, solver: str) -> Design:
        self.details["outputs"] = len(mechanism.outputs)
        report = Report(self.clock.used, solver, versions("numpy", "scipy"), self.details, self.gap)
        return Design(self.problem, mechanism, evidence, report)
