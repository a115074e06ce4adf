"""The least noise of a workload by brute force: one semidefinite program over all rows with entries 1 and e^eps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import cvxpy
import numpy as np

Floats = np.ndarray[Any, np.dtype[np.float64]]


def all_rows(size: int, epsilon: float) -> Floats:
    return np.array(list(itertools.product([1.0, math.exp(epsilon)], repeat=size)))


def least_noise(queries: Floats, epsilon: float, prior: Floats) -> float:
    """``min tr(W M^-1 W') - sum p |W_x|^2`` over weights on all rows."""
    size = queries.shape[1]
    rows = all_rows(size, epsilon)
    weights = cvxpy.Variable(len(rows), nonneg=True)
    parts = np.einsum("ni,nj->nij", rows, rows) / (rows @ prior)[:, None, None]
    moment = cvxpy.reshape(parts.reshape(len(rows), -1).T @ weights, (size, size), order="C")
    above = cvxpy.Variable((len(queries), len(queries)), symmetric=True)
    block = cvxpy.bmat([[above, queries], [queries.T, (moment + moment.T) / 2]])
    problem = cvxpy.Problem(cvxpy.Minimize(cvxpy.trace(above)), [block >> 0, rows.T @ weights == 1])
    problem.solve(solver="CLARABEL")
    return float(problem.value) - float((queries**2).sum(axis=0) @ prior)


def noise_of(queries: Floats, channel: Floats, prior: Floats) -> Floats:
    """The noise at each type of a channel (one row a type) with the estimator of least average noise."""
    chances = prior @ channel
    moment = (channel / chances) @ channel.T
    estimator = queries @ np.linalg.solve(moment, channel / chances)
    return np.asarray(channel @ (estimator**2).sum(axis=0) - (queries**2).sum(axis=0))
