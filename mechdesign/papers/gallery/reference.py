"""What references are computed with: scipy and nothing of this package, so that agreement says something."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, sparse

Floats = NDArray[np.float64]


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where a function that changes its sign between both ends is 0."""
    return float(optimize.brentq(function, low, high, xtol=1e-15))


def least(function: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """Where a function with one valley between both ends is least, and its value there."""
    found: Any = optimize.minimize_scalar(function, bounds=(low, high), method="bounded", options={"xatol": 1e-11})
    return float(found.x), float(found.fun)


def least_around(function: Callable[[Floats], float], start: Sequence[float] | Floats) -> float:
    """The least value of a function of a few numbers with one valley, which may be infinite off limits."""
    options = {"xatol": 1e-11, "fatol": 1e-15, "maxiter": 20_000, "maxfev": 20_000}
    solve: Any = optimize.minimize
    point = np.asarray(start, dtype=np.float64)
    for _ in range(3):  # a simplex that has collapsed too soon starts anew
        found = solve(function, point, method="Nelder-Mead", options=options)
        point = found.x
    return float(found.fun)


def most_among_shares(function: Callable[[Floats], float], count: int) -> float:
    """The largest value of a concave function of ``count`` shares that add up to 1."""
    solve: Any = optimize.minimize
    together = {"type": "eq", "fun": lambda shares: shares.sum() - 1}
    found = solve(
        lambda shares: -function(shares),
        np.full(count, 1 / count),
        bounds=[(0, 1)] * count,
        constraints=[together],
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return -float(found.fun)


def shared_weights(density: Callable[[Floats], Floats], points: Floats) -> Floats:
    """A density on equispaced points: the mass of each value goes to both its neighbours, which keeps the mean."""
    fine = np.linspace(points[0], points[-1], 64_001)
    hats = np.maximum(0, 1 - np.abs(fine[None, :] - points[:, None]) / (points[1] - points[0]))
    mass = hats @ density(fine)
    return np.asarray(mass / mass.sum())


def program(cost: Any, equal: Any, right: Any, at_most_zero: Any = None) -> tuple[float, Floats]:
    """The least ``cost x`` over ``x >= 0`` with ``equal x = right`` and ``at_most_zero x <= 0``, and that x."""
    limits = None if at_most_zero is None else np.zeros(at_most_zero.shape[0])
    solve: Any = optimize.linprog
    found = solve(cost, A_ub=at_most_zero, b_ub=limits, A_eq=equal, b_eq=right)
    return float(found.fun), np.asarray(found.x)


def private(values: int, reports: int, epsilon: float) -> Any:
    """Rows of ``b <= q_x <= e^eps b`` for a law q_x a value, one after the other, and then the base b."""
    laws: Any = sparse.identity(values * reports)
    base: Any = sparse.vstack([sparse.identity(reports)] * values)
    above, below = [laws, -np.exp(epsilon) * base], [-laws, base]
    return sparse.csr_array(sparse.vstack([sparse.hstack(above), sparse.hstack(below)]))


def sums(values: int, weights: Any, more: int = 0) -> Any:
    """A row a value: the sum of its law times the weights of the reports, and 0 for ``more`` further variables."""
    rows: Any = sparse.kron(sparse.identity(values), np.atleast_2d(weights))
    nothing: Any = sparse.csr_array((values, more))
    return sparse.csr_array(sparse.hstack([rows, nothing]) if more else rows)
