"""The best weights on given rows: a convex program in as many numbers as there are rows.

Rows are scaled to ``r = z / (p.z)``, so that their weights u add up to one:

    ``min tr(G M^-1)``,  ``M = sum_i u_i r_i r_i'``,  ``sum_i u_i r_i = 1``,  ``u >= 0``.

Solved by a primal-dual interior point: with ``B = M^-1 G M^-1`` optimality is ``nu.r_i - r_i'Br_i = s_i >= 0`` and
``u_i s_i = 0``, and the Hessian of the objective is ``2 (R B R') * (R M^-1 R')``, entry by entry. Its prices nu lie
inside, not at a corner, of those that the rows allow, which is what makes them good for finding rows.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from mechdesign.values.declare import Floats, frozen

_MOST_STEPS = 60
_STEP = 0.99  # of the way to where a weight or a slack would be 0
_CENTRING = 0.1
_RIDGE = 1e-14  # relative: keeps rows that repeat others from making the system singular


@frozen
class Weighted:
    """Weights on rows: what they attain with its multipliers, ``tr(G M^-1)`` and ``B``; ``gap`` is relative."""

    shares: Floats
    slacks: Floats
    prices: Floats
    value: float
    square: Floats
    inverse: Floats
    gap: float


def best_weights(gram: Floats, rows: Floats, shares: Floats, prices: Floats | None, tolerance: float) -> Weighted:
    """Weights within about ``tolerance`` of the best, from any start above 0."""
    count, size = rows.shape
    u = shares
    nu = np.empty(0) if prices is None else prices
    s = np.empty(0)
    for step in range(_MOST_STEPS):
        moment = (rows * u[:, None]).T @ rows
        inverse = np.linalg.inv(moment)
        inverse = (inverse + inverse.T) / 2
        square = inverse @ gram @ inverse
        value = float(np.sum(gram * inverse))
        towards = rows @ square
        worth = np.einsum("ij,ij->i", towards, rows)
        if not nu.size:
            nu = np.full(size, value / size)
        if not s.size:
            s = np.maximum(rows @ nu - worth, tolerance * value / (count * u))
        dual_rest, primal_rest = rows @ nu - worth - s, 1 - rows.T @ u
        gap = float(u @ s)
        is_feasible = np.abs(primal_rest).max() < 1e-9 and np.abs(dual_rest).max() < 1e-6 * value
        if (gap < tolerance * value and is_feasible) or step == _MOST_STEPS - 1:
            break
        level = _CENTRING * gap / count
        hessian = 2 * (towards @ rows.T) * ((rows @ inverse) @ rows.T)
        hessian[np.diag_indices(count)] += s / u + _RIDGE * np.trace(hessian) / count
        rest = level / u - s - dual_rest
        try:
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
        except LinAlgError:
            break
        solved = cho_solve(factor, np.column_stack([rows, rest]), check_finite=False)
        try:
            change_nu = np.linalg.solve(rows.T @ solved[:, :size], rows.T @ solved[:, size] - primal_rest)
        except np.linalg.LinAlgError:
            break
        change_u = solved[:, size] - solved[:, :size] @ change_nu
        change_s = level / u - s - s / u * change_u
        length = min(_longest(u, change_u), _longest(s, change_s))
        u, nu, s = u + length * change_u, nu + length * change_nu, s + length * change_s
    return Weighted(u, s, nu, value, np.asarray(square), np.asarray(inverse, dtype=np.float64), gap / value)


def _longest(values: Floats, change: Floats) -> float:
    falls = change < 0
    return min(1.0, _STEP * float((-values[falls] / change[falls]).min())) if falls.any() else 1.0
