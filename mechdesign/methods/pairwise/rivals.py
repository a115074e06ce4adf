"""What is published for places, measured on a problem: exponential and geometric mechanisms, remaps.

A remap sends every report to the place that is best for it under the prior (Chatzikokolakis, ElSalamouny, Palamidessi
2017); it costs no privacy. The same computation gives a Bayesian adversary's expected error: what is left of the loss
for one who knows the prior and guesses as well as can be.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import frozen
from mechdesign.words.classes import All
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.places import distances
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

EXPONENTIAL, GEOMETRIC = "exponential", "geometric"
REMAPPED = ", remapped"
_EVEN = 1e-9


@frozen
class Measured:
    """The expected loss of a rival, between two ends: equal where it is computed from a table."""

    name: str
    lower: float
    upper: float


def tables(problem: Problem) -> dict[str, Discrete]:
    """The rivals that are tables on the problem's outputs, by name."""
    privacy, places = problem.privacy, problem.table.places
    if not isinstance(privacy, Metric) or places is None:
        return {}
    apart = privacy.per_unit * distances(privacy.points, places, privacy.distance)
    law = np.exp(-apart / 2)
    found = {EXPONENTIAL: law / law.sum(axis=1, keepdims=True)}
    steps = np.diff(privacy.points[:, 0]) if privacy.points.shape[1] == 1 else np.empty(0)
    if isinstance(problem.among, All) and steps.size and (steps > 0).all() and np.ptp(steps) <= _EVEN * steps.max():
        found[GEOMETRIC] = truncated_geometric(len(privacy), float(privacy.per_unit * steps.mean()))
    every = dict(found)
    every |= {name + REMAPPED: remapped(table, problem) for name, table in found.items()}
    return {name: _discrete(problem, table, name) for name, table in every.items()}


def truncated_geometric(size: int, rate: float) -> Floats:
    """Two-sided geometric noise on 0 .. size - 1, reports beyond the ends moved to them.

    >>> truncated_geometric(2, 1.0).round(6).tolist()
    [[0.731059, 0.268941], [0.268941, 0.731059]]
    """
    tail = math.exp(-rate)
    offset = np.abs(np.arange(size)[:, None] - np.arange(size))
    table = (1 - tail) / (1 + tail) * tail**offset
    table[:, 0] = tail ** offset[:, 0] / (1 + tail)
    table[:, -1] = tail ** offset[:, -1] / (1 + tail)
    return np.asarray(table)


def remapped(table: Floats, problem: Problem) -> Floats:
    """Every report sent to the output that loses least under the prior (under equal weights for the worst case)."""
    best = np.argmin(_joint(table, problem).T @ problem.table.up, axis=1)
    sent = np.zeros((len(table), problem.table.width))
    np.add.at(sent.T, best, table.T)
    return sent


def adversary_error(table: Floats, problem: Problem) -> float | None:
    """The expected loss of who knows prior and mechanism and guesses an input from a report as well as can be.

    None where guesses are no inputs: where losses are a matrix.
    """
    privacy, loss = problem.privacy, problem.loss
    if not isinstance(privacy, Metric) or not isinstance(loss, Distances):
        return None
    losses = distances(privacy.points, privacy.points, privacy.distance) ** loss.exponent
    return float((_joint(table, problem).T @ losses).min(axis=1).sum())


def _joint(table: Floats, problem: Problem) -> Floats:
    weights = np.full(len(table), 1 / len(table)) if problem.weights is None else problem.weights
    return np.asarray(weights[:, None] * table)


def _discrete(problem: Problem, table: Floats, name: str) -> Discrete:
    used = np.flatnonzero((table > 0).any(axis=0))
    outputs = Finite(tuple(problem.table.outputs.points[int(k)] for k in used))
    rows = table[:, used]
    return Discrete(problem.epsilon, problem.numbers, outputs, rows / rows.sum(axis=1, keepdims=True), name)


__all__ = ["Measured", "adversary_error", "remapped", "tables", "truncated_geometric"]
