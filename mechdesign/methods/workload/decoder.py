"""The estimator of a channel: what each report adds to the estimate of each share.

For a channel Q (k x m, one row a type) and a prior p let ``D = diag(p Q)`` and ``M = Q D^-1 Q'``. Of all ``L`` with
``Q L = I`` the one with the least average variance under p is ``L = D^-1 Q' M^-1``, for every workload at once: a
report o of n adds ``L_o / n`` to the shares, and ``W L_o / n`` to the answers of the workload W.
"""

from __future__ import annotations

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.values.declare import Floats

_CLOSEST = 1e-13  # the least eigenvalue of M relative to its largest, at which doubles still tell the types apart


def information(channel: Floats, prior: Floats) -> Floats:
    """``M = Q D^-1 Q'``, which is also the Fisher information of the shares in one report."""
    chances = prior @ channel
    return np.asarray((channel / chances) @ channel.T)


def decoder(channel: Floats, prior: Floats) -> Floats:
    """L in doubles, an m x k matrix, or `CheckFailed` where the reports do not tell the types apart.

    >>> channel = np.array([[0.75, 0.25], [0.25, 0.75]])
    >>> decoder(channel, np.array([0.5, 0.5])).round(12).tolist()
    [[1.5, -0.5], [-0.5, 1.5]]
    """
    used = channel / (prior @ channel)
    values, vectors = np.linalg.eigh(used @ channel.T)
    if not values[0] > _CLOSEST * values[-1]:
        raise CheckFailed(f"its {channel.shape[1]} reports do not tell all {channel.shape[0]} types apart")
    inverse = (vectors / values) @ vectors.T
    found = used.T @ inverse
    return np.asarray(found + found @ (np.eye(len(channel)) - channel @ found))  # Newton: squares what is missing


def noise(channel: Floats, estimator: Floats, workload: Floats) -> Floats:
    """``sum_o Q_xo |V_o|^2 - |W_x|^2`` for each type x, V one row a report: the noise of one user, over all queries."""
    return np.asarray(channel @ (estimator**2).sum(axis=1) - (workload**2).sum(axis=0))
