"""Rotated second-order cones, ``|F u|^2 <= (a.u)(b.u)``, which no linear program has: solved by Clarabel.

maximise ``gain.u``  subject to  ``u_i >= least_i``, ``shares.u = 1``, and a cone for each row.
"""

from __future__ import annotations

from typing import Any

import clarabel  # type: ignore[import-untyped]
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from mechdesign_solvers.errors import SolverFailed

Floats = NDArray[np.float64]


def solve_rotated(
    gain: Floats, least: Floats, shares: Floats, cones: list[tuple[sparse.csr_array, int]], seconds: float | None = None
) -> tuple[Floats, Floats]:
    """``u``, and the multiplier of each a.u, at least 0; a cone is the rows ``a, b, F`` and how many there are.

    >>> cone = sparse.csr_array(np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]))  # u_2^2 <= u_0 u_1
    >>> u, weights = solve_rotated(  # with u_1 = 1: of 2 u_2 - u_0 the most is 1
    ...     np.array([-1.0, 0.0, 2.0]), np.full(3, -9.0), np.array([0.0, 1.0, 0.0]), [(cone, 3)]
    ... )
    >>> u.round(6).tolist(), weights.round(6).tolist()
    ([1.0, 1.0, 1.0], [1.0])
    """
    bounded = np.flatnonzero(np.isfinite(least))
    below = -sparse.eye_array(gain.size, format="csr")[bounded]
    blocks, kinds = [sparse.csr_array(shares[None, :]), below], [clarabel.ZeroConeT(1)]
    kinds.append(clarabel.NonnegativeConeT(bounded.size))
    for rows, count in cones:
        turned = sparse.eye_array(count, format="lil") * 2
        turned[0, 0], turned[0, 1], turned[1, 0], turned[1, 1] = 1.0, 1.0, 1.0, -1.0
        blocks.append(-sparse.csr_array(turned) @ rows)
        kinds.append(clarabel.SecondOrderConeT(count))
    matrix = sparse.csc_matrix(sparse.vstack(blocks))
    right = np.zeros(matrix.shape[0])
    right[0] = 1.0
    right[1 : 1 + bounded.size] = -least[bounded]
    settings: Any = clarabel.DefaultSettings()
    settings.verbose, settings.max_threads = False, 1
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-10
    if seconds is not None:
        settings.time_limit = max(seconds, 0.01)
    none = sparse.csc_matrix((gain.size, gain.size))
    solver: Any = clarabel.DefaultSolver(none, -gain, matrix, right, kinds, settings)
    found = solver.solve()
    u, multipliers = np.array(found.x), np.array(found.z)
    if not (np.isfinite(u).all() and np.isfinite(multipliers).all()):
        raise SolverFailed("Clarabel", str(found.status))
    starts = 1 + bounded.size + np.cumsum([0, *(count for _, count in cones[:-1])], dtype=int)
    return u, np.maximum(multipliers[starts] + multipliers[starts + 1], 0.0)
