"""Flows that prove nearly the same as others with far fewer of them: files hold those.

An interior point has a flow on every pair of every output. What the flows must do is known once the bound is: with
``l_x`` its part of input x, an output y has at x the room ``r_x = w_x loss[x, y] - l_x``. Where it is negative flows
must leave x, by at least ``-r_x``; where it is positive what comes in, times ``e^E``, may be ``r_x`` at most. As
epsilons are closed under paths flows may go directly from the former to the latter: a transportation program of its own
for each output, of which a vertex has no more flows than there are inputs.
"""

from __future__ import annotations

import numpy as np
from mechdesign_solvers import Highs, LinearProgram
from numpy.typing import NDArray
from scipy.sparse import csr_array

from mechdesign.exact.flows import flows_left
from mechdesign.methods.pairwise.blocks import proven, thinned
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_LOST = 0.05  # of the gap, to room for vertices
_FARTHEST = 20.0
_LEAST = 1e-12
_AT_ONCE = 64  # outputs in a program


def few_flows(problem: Problem, gap: float, losses: Floats, weights: Floats, flows: Floats) -> Floats:
    """Flows that prove as much but for a small share of the gap: vertices, or the others without what hardly matters.

    Rows are ``output, first, second, amount``.
    """
    every = thinned(problem, gap, losses, weights, flows)
    epsilons, best = pairs_of(problem).at_most, proven(problem, losses, weights, every)
    if not best > 0:
        return every
    parts = flows_left(epsilons, losses, weights, every).min(axis=1)
    room = weights[:, None] * losses - (parts - _LOST * gap * best / len(parts))[:, None]
    found = []
    for outputs in np.array_split(np.arange(losses.shape[1]), max(1, losses.shape[1] // _AT_ONCE)):
        few = _vertices(epsilons, room[:, outputs], outputs)
        found.append(every[np.isin(every[:, 0], outputs)] if few is None else few)
    few = thinned(problem, gap, losses, weights, np.concatenate(found))
    return few if best - proven(problem, losses, weights, few) <= 2 * _LOST * gap * best else every


def _vertices(epsilons: Floats, room: Floats, outputs: Places) -> Floats | None:
    """Flows of some outputs, or None where doubles find none."""
    pairs, rows, columns, entries, least, most = [], [], [], [], [], []
    height = width = 0
    scale = float(np.abs(room).max())
    for y, left in zip(outputs.tolist(), (room / scale).T, strict=True):
        short, free = np.flatnonzero(left < 0), np.flatnonzero(left > 0)
        one, other = (part.ravel() for part in np.meshgrid(short, free, indexing="ij"))
        near = epsilons[one, other] <= _FARTHEST
        one, other = one[near], other[near]
        at = width + np.arange(one.size)
        rows += [height + np.searchsorted(short, one), height + short.size + np.searchsorted(free, other)]
        columns += [at, at]
        entries += [np.ones(one.size), np.exp(epsilons[one, other])]
        least += [-left[short], np.full(free.size, -np.inf)]
        most += [np.full(short.size, np.inf), left[free]]
        pairs.append(np.stack([np.full(one.size, y), one, other], axis=1))
        height, width = height + short.size + free.size, width + one.size
    if not width:
        return None
    matrix = csr_array(
        (np.concatenate(entries), (np.concatenate(rows), np.concatenate(columns))), shape=(height, width)
    )
    cost = np.concatenate(entries[1::2])
    program = LinearProgram.of(cost, matrix, np.concatenate(least), np.concatenate(most), lower=0)
    amounts = Highs().solve(program).primal
    if amounts is None:
        return None
    used = amounts > _LEAST
    return np.column_stack([np.concatenate(pairs)[used], amounts[used] * scale])
