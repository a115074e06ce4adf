"""Bounds of the least worst variance of two or three unbiased numbers over a whole cube, by a grid of inputs.

*Below.* Inputs on a grid are some of all inputs, and the reports of an unbiased mechanism for several numbers are an
unbiased estimator of as many queries, the coordinates: no mechanism has less variance than the best for that workload
has at its worst type (`mechdesign.methods.workload.proof`).

*Above.* Every number is rounded without bias to one of the two levels around it, each for itself, and the place on the
grid is reported by the table for that workload. What a table adds at a place is at most its worst noise t; E|Y|^2 at x
is an average over the places around it, so that the variance is at most

    ``t + sum_j (x_j - a_j)(b_j - x_j) <= t + d h^2 / 4``

for x_j between levels ``a_j < b_j`` that are h apart. Both hold for all real inputs.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.cube.supports import LEVELS, count_and_half
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.workload.proof import WorkloadBound, attained_noise
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.words.criteria import Family, Scope, Worst
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.workloads import MOST_TYPES, Queries, Workload


def means_on_grid(epsilon: float, count: int, levels: int) -> Problem:
    """The noise of as many means of places on a grid of [-1, 1], at the worst place.

    >>> means_on_grid(1.0, 2, 3).loss.queries.matrix.shape
    (2, 9)
    """
    places = np.array(list(product(np.linspace(-1.0, 1.0, levels), repeat=count)))
    return Problem(loss=Workload(Queries(places.T)), privacy=Pure(epsilon), criterion=Worst())


def by_rounding(count: int, levels: int) -> Fraction:
    """The most that rounding to levels adds to the variance on [-1, 1]: ``d h^2 / 4``.

    >>> by_rounding(2, 9)
    Fraction(1, 32)
    """
    return Fraction(count, (levels - 1) ** 2)


@frozen
class CubeBound:
    """Multipliers for each place of a grid, those of `WorkloadBound`: ``slopes`` are its matrix, row by row."""

    kind: ClassVar[str] = "cube"
    claimed: ClassVar[bool] = False

    slopes: Floats = array(column("slopes"))
    prices: Floats = array(column("prices"))
    prior: Floats = array(column("prior"))

    def levels(self, count: int) -> int:
        """Of each number, by the number of places."""
        levels: int = round(float(self.prior.size) ** (1 / count))
        if levels**count != self.prior.size or levels not in LEVELS or self.prior.size > MOST_TYPES:
            raise CheckFailed(f"{self.prior.size} places are no grid of 3, 5, 9 or 17 levels of {count} numbers")
        if self.slopes.size != count * self.prior.size:
            raise CheckFailed(f"the evidence has {self.slopes.size} slopes for {self.prior.size} places")
        return levels

    def bound(self, problem: Any, mechanism: Any) -> float:
        count, half = count_and_half(problem)
        levels = self.levels(count)
        found = WorkloadBound(self.slopes.reshape(-1, count), self.prices, self.prior)
        return max(0.0, float_down(found.value(means_on_grid(problem.epsilon, count, levels)) * half**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        count, half = count_and_half(problem)
        levels = self.levels(count)
        grid = means_on_grid(problem.epsilon, count, levels)
        if (self.prior < 0).any() or not self.prior.any():
            raise CheckFailed("the prior of the evidence must be at least 0, with a positive sum")
        table = require_mechanism(mechanism, Discrete, grid)
        if table.outputs.points != tuple(range(len(table.outputs))):
            raise CheckFailed("outputs must be numbers from 0 on: nothing is said of what others would mean")
        noise = attained_noise(grid, table, self.prior)
        return float_up((noise + by_rounding(count, levels)) * half**2)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        count_and_half(problem)
        return Scope(Family.UNBIASED)
