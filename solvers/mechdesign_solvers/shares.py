"""Shares u of given rows: a convex objective made least under equations that say what the rows add up to.

    ``min f(u)``  subject to  ``R'u = 1``,  ``u >= 0``.

Optimality is ``nu.r_i - worth_i = s_i >= 0`` and ``u_i s_i = 0``, with the prices nu of the equations and what one more
share of a row is worth, minus the slope of f. The prices of an interior point lie inside, not at a corner, of those
that the rows allow, which is what makes them good for finding rows. A Newton system is that of f's Hessian with ``s/u``
on its diagonal, and one as large as there are equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from mechdesign_solvers.primal_dual import Manner, Positive, Step, run

Floats = NDArray[np.float64]
Solve = Callable[[Floats], Floats]

_RIDGE = 1e-14  # relative: keeps rows that repeat others from making the system singular
_MANNER = Manner(together=True, centring=0.1, steps=80)


class Here(NamedTuple):
    """An objective at u: its value, what rows are worth, and its Hessian with a diagonal more, factorised."""

    value: float
    worth: Floats
    solver: Callable[[Floats], Solve]


class Objective(Protocol):
    """Equations and prices may be off by ``inexact``: as they stand, and relative to the objective."""

    bends: bool
    inexact: tuple[float, float]

    def at(self, shares: Floats) -> Here: ...


class Linear:
    """``-worth.u``."""

    bends, inexact = False, (1e-12, 1e-9)

    def __init__(self, worth: Floats) -> None:
        self.worth = worth

    def at(self, shares: Floats) -> Here:
        return Here(float(self.worth @ shares), self.worth, lambda diagonal: lambda right: (right.T / diagonal).T)


class TraceInverse:
    """``tr(G M^-1)`` for ``M = sum_i u_i r_i r_i'``: with ``B = M^-1 G M^-1`` a row is worth ``r'Br``, and the Hessian
    is ``2 (R B R') * (R M^-1 R')``, entry by entry."""

    bends, inexact = True, (1e-9, 1e-6)

    def __init__(self, gram: Floats, rows: Floats) -> None:
        self.gram, self.rows = gram, rows

    def inverse(self, shares: Floats) -> Floats:
        inverse = np.linalg.inv((self.rows * shares[:, None]).T @ self.rows)
        return np.asarray((inverse + inverse.T) / 2)

    def at(self, shares: Floats) -> Here:
        inverse = self.inverse(shares)
        towards = self.rows @ (inverse @ self.gram @ inverse)

        def solver(diagonal: Floats) -> Solve:
            hessian = 2 * (towards @ self.rows.T) * ((self.rows @ inverse) @ self.rows.T)
            count = len(hessian)
            hessian[np.diag_indices(count)] += diagonal + _RIDGE * np.trace(hessian) / count
            factor = cho_factor(hessian, overwrite_a=True, check_finite=False)
            return lambda right: np.asarray(cho_solve(factor, right, check_finite=False))

        return Here(float(np.sum(self.gram * inverse)), np.einsum("ij,ij->i", towards, self.rows), solver)


class Reciprocals:
    """``sum_S c_S / f_S`` for ``f = u @ E``: far fewer S than rows, so that a small system says all."""

    bends, inexact = True, (1e-9, 1e-6)

    def __init__(self, costs: Floats, energies: Floats) -> None:
        self.costs, self.energies = costs, energies

    def at(self, shares: Floats) -> Here:
        reached = shares @ self.energies
        bend = self.energies * np.sqrt(2 * self.costs / reached**3)

        def solver(diagonal: Floats) -> Solve:
            small = np.eye(bend.shape[1]) + (bend.T / diagonal) @ bend

            def solve(right: Floats) -> Floats:
                eased = (right.T / diagonal).T
                return np.asarray(eased - ((bend @ np.linalg.solve(small, bend.T @ eased)).T / diagonal).T)

            return solve

        return Here(float((self.costs / reached).sum()), self.energies @ (self.costs / reached**2), solver)


class Shares(NamedTuple):
    """Shares of rows, prices of the equations, and slacks of the rows; ``gap`` is relative to the objective."""

    shares: Floats
    prices: Floats
    slacks: Floats
    gap: float


def best_shares(objective: Objective, rows: Floats, shares: Floats, prices: Floats | None, tolerance: float) -> Shares:
    """Shares within about ``tolerance`` of the best, from any start above 0.

    >>> rows = np.array([[1.0], [1.0], [1.0]])
    >>> found = best_shares(Linear(np.array([1.0, 3.0, 2.0])), rows, np.full(3, 1 / 3), None, 1e-9)
    >>> found.shares.round(6).tolist(), found.prices.round(6).tolist()
    ([0.0, 1.0, 0.0], [3.0])
    """
    point = _Point(objective, rows, shares, prices, tolerance)
    run(point, _MANNER)
    return Shares(point.shares, point.prices, point.slacks, point.gap / point.here.value)


class _Point:
    def __init__(
        self, objective: Objective, rows: Floats, shares: Floats, prices: Floats | None, tolerance: float
    ) -> None:
        self.objective, self.rows, self.tolerance = objective, rows, tolerance
        self.shares, self.here = shares, objective.at(shares)
        enough = float((self.here.worth / rows.sum(axis=1)).max())  # for every row
        self.prices = np.full(rows.shape[1], enough) if prices is None else prices
        # products start alike; but slacks of a linear objective start small, as its prices are good ones
        count = len(shares)
        least = self.here.value * tolerance / (np.maximum(count * shares, tolerance) if objective.bends else count)
        self.slacks = np.maximum(rows @ self.prices - self.here.worth, least)

    @property
    def pairs(self) -> Sequence[Positive]:
        return (Positive(self.shares, self.slacks),)

    @property
    def gap(self) -> float:
        return float(self.shares @ self.slacks)

    @property
    def enough(self) -> float:
        return self.tolerance * self.here.value

    def is_done(self) -> bool:
        self.dual_rest = self.rows @ self.prices - self.here.worth - self.slacks
        self.primal_rest = 1 - self.rows.T @ self.shares
        unbalanced, unpriced = self.objective.inexact
        is_fair = np.abs(self.dual_rest).max() < unpriced * self.here.value
        return bool(self.gap < self.enough and np.abs(self.primal_rest).max() < unbalanced and is_fair)

    def newton(self) -> Callable[[Sequence[Floats]], Step]:
        rows, pull = self.rows, self.slacks / self.shares
        solve = self.here.solver(pull)
        of_rows = solve(rows)
        system = rows.T @ of_rows

        def direction(aims: Sequence[Floats]) -> Step:
            (aim,) = aims
            free = solve(aim - self.slacks - self.dual_rest)
            # where few rows have any share prices are undecided, and the least change of them is a good one
            prices = np.linalg.lstsq(system, rows.T @ free - self.primal_rest, rcond=None)[0]
            shares = free - of_rows @ prices
            return Step([(shares, aim - self.slacks - pull * shares)], prices)

        return direction

    def move(self, step: Step, primal: float, dual: float) -> None:
        ((shares, slacks),) = step.pairs
        reached = self.shares + primal * shares
        here = self.objective.at(reached)
        self.shares, self.here = reached, here
        self.prices, self.slacks = self.prices + dual * step.beside, self.slacks + dual * slacks
