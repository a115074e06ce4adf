"""Rows, their weights, an estimator and the least favourable prior together, as one cone program.

For the worst type the least noise is ``max over p of min over w of tr(G M^-1) - sum_x p_x |W_x|^2``. With X and the
prices nu of the proof (`mechdesign.methods.workload.proof`) and p as unknowns this is

    ``max 2 tr(WX) - sum(nu) - sum_x p_x |W_x|^2``,  ``|X'z|^2 <= (nu.z)(p.z)`` for all z in {1, c}^k,  ``sum(p) = 1``,

a program of rotated cones, whose multipliers are the weights of the rows. It needs no M^-1, which queries that do not
ask for all shares leave undecided. Shares are kept a little above 0, at a cost of as little: under such a prior the
best estimator is the only one, and no type's noise is more than the whole by more than that.

It has k unknowns for each query, up to a rotation of the queries: many queries are left to
`mechdesign.methods.workload.columns`.
"""

from __future__ import annotations

import math

import numpy as np
from mechdesign_solvers.rotated import solve_rotated

from mechdesign.methods.workload.columns import Columns, Rows
from mechdesign.methods.workload.pricing import MOST_TRIED, Bits, Prices, all_rows, climbed
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.later import sparse

MOST_UNKNOWNS = 600
_MOST_ROUNDS = 40
_ALL_AT_ONCE = 8
_RANK = 1e-9
_USED = 1e-6  # of the weight
_KEPT = 1e-9


@frozen
class Saddle:
    """Rows with weights ``sum_z w_z z = 1`` and a prior for which neither side can do better; ``rows`` are its own."""

    bits: Bits
    weights: Floats
    prior: Floats
    rows: Rows
    rounds: int


def basis_of(queries: Floats) -> Floats:
    """As few queries with the same Gram matrix.

    >>> basis_of(np.array([[3.0, 0.0], [4.0, 0.0]])).round(9).tolist() in ([[5.0, 0.0]], [[-5.0, 0.0]])
    True
    """
    _, values, rows = np.linalg.svd(queries, full_matrices=False)
    used = values > _RANK * values[0]
    return np.asarray(values[used, None] * rows[used])


def worst_saddle(basis: Floats, ratio: float, floor: float, gap: float, columns: Columns, clock: Clock) -> Saddle:
    """The saddle over priors whose shares are at least ``floor / k``, to a relative gap.

    Beyond a few types not all rows are in the program: the best rows for the prior found, and those that its prices
    miss, are added until those of the prior alone are no better.
    """
    rank, size = basis.shape
    square = float((basis**2).sum()) / size
    scaled = basis / math.sqrt(square)
    known = (scaled**2).sum(axis=0)
    gain = np.concatenate([2 * scaled.T.ravel(), -np.ones(size), -known])
    least = np.concatenate([np.full(size * (rank + 1), -math.inf), np.full(size, floor / size)])
    shares = np.concatenate([np.zeros(size * (rank + 1)), np.ones(size)])
    bits = all_rows(size) if size <= _ALL_AT_ONCE else columns.bits
    count = 0
    while True:
        count += 1
        cones = [(_cone(row, rank), rank + 2) for row in 1 + (ratio - 1) * bits]
        found, weights = solve_rotated(gain, least, shares, cones, clock.left())
        dual, prices, prior = np.split(found, [size * rank, size * (rank + 1)])
        dual, prior = dual.reshape(size, rank), prior / prior.sum()
        fixed = square * float(known @ prior)
        rows = columns.run(prior, gap, fixed, clock)
        open_gap = square * float(gain @ found) - (rows.bound - fixed)
        if open_gap <= 2 * gap * (rows.bound - fixed) or clock.is_over or count == _MOST_ROUNDS:
            used = weights > _KEPT * weights.max()
            return Saddle(bits[used], weights[used], prior, rows, count)
        fresh, excess = _priced(Prices(dual @ dual.T, prices, prior, ratio), bits, columns.rng)
        fresh = fresh[np.argsort(-excess, kind="stable")[: 4 * size]]
        own = rows.bits[rows.found.shares > _USED]
        # rows without weight stay: prices are not the only ones, and would wander
        bits = np.unique(np.vstack([bits, fresh, own]), axis=0)


def _cone(row: Floats, rank: int) -> sparse.csr_array:
    """``nu.z``, ``p.z`` and ``X'z`` as rows over all unknowns; X is read row by row."""
    on_dual = sparse.kron(row[None, :], sparse.eye_array(rank))
    on_rest = sparse.kron(sparse.eye_array(2), row[None, :])
    nothing = sparse.csr_array((2, row.size * rank)), sparse.csr_array((rank, 2 * row.size))
    both = sparse.vstack([sparse.hstack([nothing[0], on_rest]), sparse.hstack([on_dual, nothing[1]])])
    return sparse.csr_array(both)


def _priced(asked: Prices, bits: Bits, rng: np.random.Generator) -> tuple[Bits, Floats]:
    size = bits.shape[1]
    if size <= MOST_TRIED:
        every = all_rows(size)
        return every, asked.excess(every)
    return climbed(asked, np.vstack([bits, rng.random((4 * size, size)) < 0.5]))
