"""Bounds of the least worst variance of two or three unbiased numbers over a whole cube, by a grid of inputs.

*Below.* Inputs on a grid are some of all inputs, and the reports of an unbiased mechanism for several numbers are an
unbiased estimator of as many queries, the coordinates: no mechanism has less variance than the best for that workload
has at its worst type (`mechdesign.methods.workload.proof`).

*Above.* Every number is rounded without bias to one of the two levels around it, each for itself, and the place on the
grid is reported by the table for that workload. What a table adds at a place is at most its worst noise t; E|Y|^2 at x
is an average over the places around it, so that the variance is at most

    ``t + sum_j (x_j - a_j)(b_j - x_j) <= t + d h^2 / 4``

for x_j between levels ``a_j < b_j`` that are h apart. Both hold for all real inputs.

*Under a prior* on the levels, the same for each number and independent, nothing is rounded: both ends are those of the
workload with the products of its weights. They are doubles, each off by less than a share of 2^-48 of all: by as much
the averages of variances, which are at least 0, may be off.
"""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.cube.supports import LEVELS, count_and_half, of_one_number
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.grid_prior import weights_on_grid
from mechdesign.methods.workload.proof import WorkloadBound, attained_noise
from mechdesign.values.declare import Floats, array, frozen, optional
from mechdesign.words.criteria import Average, Family, Scope, Worst
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import MOST_TYPES, Queries, Workload

_SHARE = Fraction(1, 1 << 48)
_LEAST_WEIGHT = 1e-90  # products of three of them are far from the least double


def means_on_grid(epsilon: float, count: int, levels: int, prior: Floats | None = None) -> Problem:
    """The noise of as many means of places on a grid of [-1, 1], at the worst place, or with a law of each number.

    >>> means_on_grid(1.0, 2, 3).loss.queries.matrix.shape
    (2, 9)
    """
    places = np.array(list(product(np.linspace(-1.0, 1.0, levels), repeat=count)))
    criterion = Worst() if prior is None else Average(reduce(np.multiply.outer, [prior] * count).ravel())
    return Problem(loss=Workload(Queries(places.T)), privacy=Pure(epsilon), criterion=criterion)


def grid_problem(problem: Problem, levels: int) -> Problem:
    """The same of what is asked; its prior, if there is one, must be one on the levels."""
    count, _ = count_and_half(problem)
    prior = None if problem.criterion.prior is None else weights_on_grid(of_one_number(problem), levels)
    if prior is not None and prior.min() < _LEAST_WEIGHT:
        rule = f"have a weight of at least {_LEAST_WEIGHT:g} on each of the {levels} levels of a number"
        raise InvalidInput("prior", f"{prior.min():g}", rule, "give such a level a small weight, or take fewer levels")
    return means_on_grid(problem.epsilon, count, levels, prior)


def by_rounding(count: int, levels: int) -> Fraction:
    """The most that rounding to levels adds to the variance on [-1, 1]: ``d h^2 / 4``.

    >>> by_rounding(2, 9)
    Fraction(1, 32)
    """
    return Fraction(count, (levels - 1) ** 2)


@frozen
class CubeBound:
    """Multipliers for each place of a grid, those of `WorkloadBound`: ``slopes`` are its matrix, row by row.

    ``prior`` is left out where the problem has one.
    """

    kind: ClassVar[str] = "cube"
    claimed: ClassVar[bool] = False

    slopes: Floats = array(column("slopes"))
    prices: Floats = array(column("prices"))
    prior: Floats | None = array(optional(column("prior")), default=None)

    def levels(self, count: int) -> int:
        """Of each number, by the number of places."""
        levels: int = round(float(self.prices.size) ** (1 / count))
        if levels**count != self.prices.size or levels not in LEVELS or self.prices.size > MOST_TYPES:
            raise CheckFailed(f"{self.prices.size} places are no grid of 3, 5, 9 or 17 levels of {count} numbers")
        if self.slopes.size != count * self.prices.size:
            raise CheckFailed(f"the evidence has {self.slopes.size} slopes for {self.prices.size} places")
        return levels

    def bound(self, problem: Any, mechanism: Any) -> float:
        count, half = count_and_half(problem)
        grid = grid_problem(problem, self.levels(count))
        least = self._on_grid(count).value(grid) * (1 if problem.criterion.prior is None else 1 - _SHARE)
        return max(0.0, float_down(least * half**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        count, half = count_and_half(problem)
        levels = self.levels(count)
        grid = grid_problem(problem, levels)
        weights = self._on_grid(count).weights_of_types(grid)
        table = require_mechanism(mechanism, Discrete, grid)
        if table.outputs.points != tuple(range(len(table.outputs))):
            raise CheckFailed("outputs must be numbers from 0 on: nothing is said of what others would mean")
        noise = attained_noise(grid, table, weights)
        if problem.criterion.prior is not None:
            return float_up(max(Fraction(0), noise) * (1 + _SHARE) * half**2)
        return float_up((noise + by_rounding(count, levels)) * half**2)

    def _on_grid(self, count: int) -> WorkloadBound:
        return WorkloadBound(self.slopes.reshape(-1, count), self.prices, self.prior)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        count_and_half(problem)
        return Scope(Family.UNBIASED)
