"""The best weights on given rows: a convex program in as many numbers as there are rows.

Rows are scaled to ``r = z / (p.z)``, so that their weights u add up to one:

    ``min tr(G M^-1)``,  ``M = sum_i u_i r_i r_i'``,  ``sum_i u_i r_i = 1``,  ``u >= 0``.
"""

from __future__ import annotations

import numpy as np
from mechdesign_solvers.shares import TraceInverse, best_shares

from mechdesign.values.declare import Floats, frozen


@frozen
class Weighted:
    """Weights on rows: what they attain with its multipliers, ``tr(G M^-1)`` and ``B = M^-1 G M^-1``."""

    shares: Floats
    slacks: Floats
    prices: Floats
    value: float
    square: Floats
    inverse: Floats


def best_weights(gram: Floats, rows: Floats, shares: Floats, prices: Floats | None, tolerance: float) -> Weighted:
    """Weights within about ``tolerance`` of the best, from any start above 0."""
    noise = TraceInverse(gram, rows)
    found = best_shares(noise, rows, shares, prices, tolerance)
    inverse = noise.inverse(found.shares)
    value = float(np.sum(gram * inverse))
    return Weighted(found.shares, found.slacks, found.prices, value, inverse @ gram @ inverse, inverse)
