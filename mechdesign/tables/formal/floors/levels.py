"""Levels of the values of a prior: what an average is proven with, found by a linear program and believed by nobody."""

from __future__ import annotations

from typing import Any

import numpy as np

from mechdesign.values.declare import Floats

_MOST_ROUNDS = 12
_ENOUGH = 1e-9  # of the loss: nothing is wanting any more
_GRID = 65


def levels_of_average(points: Floats, weights: Floats, outputs: Floats, ratio: float, exponent: int) -> Floats:
    """Levels v of inputs in [0, 1] for which ``sum_x w_x phi(|y - x|^p - v_x)`` is nearly at least 0 for all reports y.

    Their mean is the least average, by linear duality, and each lies between the losses of the nearest and the second
    nearest output of an optimal mechanism. Reports where the sum is below 0 are added until there are none.
    """
    far = np.sort(abs(points[:, None] - outputs) ** exponent, axis=1)
    bounds = np.stack([far[:, 0], far[:, 1] if outputs.size > 1 else np.ones_like(points)], axis=1)
    reports = points if exponent == 1 else np.concatenate([outputs, np.linspace(0, 1, _GRID)])
    levels = bounds[:, 0]
    for _ in range(_MOST_ROUNDS):
        levels = _best(points, weights, reports, bounds, ratio, exponent)
        if exponent == 1:
            break
        feet, wanting = _feet(points, weights, levels, ratio)
        new = feet[wanting < -_ENOUGH * float(weights.sum())]
        if not new.size:
            break
        reports = np.concatenate([reports, new])
    return levels


def _best(points: Floats, weights: Floats, reports: Floats, bounds: Floats, ratio: float, exponent: int) -> Floats:
    """The greatest mean of levels for these reports: phi is what is below both of its lines."""
    from scipy import optimize
    from scipy.sparse import coo_array

    linprog: Any = optimize.linprog  # its types leave sparse matrices out

    losses = abs(reports[:, None] - points) ** exponent
    slope = np.where(losses <= bounds[:, 0], ratio, np.where(losses >= bounds[:, 1], 1.0, 0.0)) * weights
    at, of = np.nonzero(slope == 0)
    count, size, open_ = len(reports), len(points), len(at)
    lines = np.arange(open_)
    y, x = np.nonzero(slope)
    cells = [
        (y, x, slope[y, x]),  # sum of slope (v - loss) over what is settled, less weighed values of what is open
        (at, size + lines, -weights[of]),
        (count + lines, of, np.ones(open_)),
        (count + lines, size + lines, np.ones(open_)),
        (count + open_ + lines, of, np.full(open_, ratio)),
        (count + open_ + lines, size + lines, np.ones(open_)),
    ]
    row, column, entry = (np.concatenate(part) for part in zip(*cells, strict=True))
    matrix = coo_array((entry, (row, column)), shape=(count + 2 * open_, size + open_)).tocsr()
    limits = np.concatenate([(slope * losses).sum(axis=1), losses[at, of], ratio * losses[at, of]])
    cost = np.concatenate([-weights, np.zeros(open_)])
    free = np.tile([-np.inf, np.inf], (open_, 1))
    ends = np.concatenate([bounds, free]).tolist()
    found = linprog(cost, matrix, limits, bounds=ends, method="highs-ipm")
    return bounds[:, 0] if found.x is None else np.clip(found.x[:size], *bounds.T)


def _feet(points: Floats, weights: Floats, levels: Floats, ratio: float) -> tuple[Floats, Floats]:
    """The feet of the parabolas between the ends of reaches, and the sums there."""
    reach = np.sqrt(levels)
    ends = np.sort(np.concatenate([points - reach, points + reach]))
    middles = (ends[:-1] + ends[1:]) / 2
    shares = weights * np.where(abs(middles[:, None] - points) < reach, ratio, 1.0)
    feet = np.unique((shares @ points) / shares.sum(axis=1))
    gaps = (feet[:, None] - points) ** 2 - levels
    return feet, (weights * np.where(gaps < 0, ratio, 1.0) * gaps).sum(axis=1)
