"""A prior of which only cells are known, and what any prior is called."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.fingerprint import fingerprint
from mechdesign.words.priors import Atoms, HistogramLaw, Prior

MOST_CELLS = 4000
"""More would make the proofs, which are quadratic in them, slow."""

AGREEMENT = 1e-9
"""Of mass, of the range and of its square: cells this near to a density's are its own."""

_ROUNDING = 1e-9


@frozen
class Cells:
    """A prior as cells, sorted: all of a cell's mass lies in its range; an atom is a cell without width.

    It is a prior itself: that of which only these cells are known. A density that is a function, and so cannot be in a
    file, is held by a design as the cells that the design was proven for.

    >>> Cells.of_atoms([0.0, 1.0], [0.5, 0.5]).are_atoms
    True
    """

    kind: ClassVar[str] = "cells"

    lows: Floats = array()
    highs: Floats = array()
    means: Floats = array()
    weights: Floats = array()
    variances: Floats = array()

    def __attrs_post_init__(self) -> None:
        columns = zip(("lows", "highs", "means", "weights", "variances"), self.arrays(), strict=True)
        for name, column in columns:
            if column.ndim != 1 or column.shape != self.means.shape or not 0 < column.size <= MOST_CELLS:
                raise InvalidInput(f"cell {name}", column.shape, f"be between 1 and {MOST_CELLS} numbers, one a cell")
            if not np.isfinite(column).all():
                raise InvalidInput(f"cell {name}", float(column[~np.isfinite(column)][0]), "be finite")
        if not (self.weights > 0).all():
            raise InvalidInput("cell weights", float(self.weights.min()), "be above 0", "drop cells without mass")
        if not ((self.lows <= self.means) & (self.means <= self.highs)).all():
            raise InvalidInput("cell means", "outside", "lie in the ranges of their cells")
        if not ((self.highs[:-1] <= self.lows[1:]) & (self.means[:-1] < self.means[1:])).all():
            raise InvalidInput("cells", "unsorted or overlapping", "be sorted and apart")
        most = (self.means - self.lows) * (self.highs - self.means)
        # the variance of all mass at the ends, plus what rounding the mean can do
        spacing = np.spacing(np.maximum(np.abs(self.lows), np.abs(self.highs)))
        most = most * (1 + _ROUNDING) + 4 * spacing * (self.highs - self.lows)
        if not ((self.variances >= 0) & (self.variances <= most)).all():
            raise InvalidInput("cell variances", "out of range", "lie between 0 and (mean - low)(high - mean)")

    @classmethod
    def of_atoms(cls, points: ArrayLike, weights: ArrayLike) -> Cells:
        places = np.asarray(points, dtype=np.float64)
        return cls(places, places, places, np.asarray(weights, dtype=np.float64), np.zeros_like(places))

    @property
    def are_atoms(self) -> bool:
        return bool((self.lows == self.highs).all())

    @property
    def mean(self) -> float:
        return float(np.dot(self.weights, self.means) / self.weights.sum())

    def arrays(self) -> tuple[Floats, ...]:
        return self.lows, self.highs, self.means, self.weights, self.variances

    def penalties(self, exponent: int) -> list[Fraction]:
        """What an edge inside a cell could save, for each of the places between cells (and before and after all)."""
        ends = (Fraction(float(self.lows[0])), Fraction(float(self.highs[-1])))
        scale = Fraction(1) if exponent == 1 else ends[1] - ends[0]
        inside = [_spread(*cell) * scale for cell in zip(*(column.tolist() for column in self.arrays()), strict=True)]
        return [left + right for left, right in zip([Fraction(0), *inside], [*inside, Fraction(0)], strict=True)]


KnownPrior = Prior | Cells
"""What a problem with a prior may hold: the prior, or the cells that are all that is known of it."""


def _spread(low: float, high: float, mean: float, weight: float, variance: float) -> Fraction:
    """At least ``weight * E|x - mean|``: what all mass at the ends would give, and the standard deviation."""
    if low == high:
        return Fraction(0)
    x, low_end, high_end = Fraction(mean), Fraction(low), Fraction(high)
    at_ends = 2 * (x - low_end) * (high_end - x) / (high_end - low_end)
    return Fraction(weight) * min(at_ends, Fraction(math.nextafter(math.sqrt(variance), math.inf)))


def distinct(prior: Atoms) -> tuple[Floats, Floats]:
    """The values with weight, in increasing order, and their weights."""
    points, where = np.unique(prior.points, return_inverse=True)
    weights = np.bincount(where.ravel(), weights=prior.weights)
    return points[weights > 0], np.asarray(weights[weights > 0], dtype=np.float64)


def in_words(prior: KnownPrior) -> str:
    """What a prior is, and where it stands.

    >>> from mechdesign.words.domains import Interval
    >>> from mechdesign.words.priors import normal
    >>> in_words(normal(0.3, 0.1, Interval(0, 1)))
    'normal(0.3, 0.1) on [0, 1] (its cells agree with it to 1e-09)'
    """
    if isinstance(prior, Cells):
        return f"{prior.means.size} cells ({fingerprint(*prior.arrays())})"
    if isinstance(prior, Atoms):
        values, weights = distinct(prior)
        return f"{values.size} values ({fingerprint(values, weights)})"
    ends = f"[{prior.domain.lower + 0.0:g}, {prior.domain.upper + 0.0:g}]"  # no negative zero
    law = prior.function
    mark = f" ({fingerprint(law.edges, law.weights)})" if isinstance(law, HistogramLaw) else ""
    return f"{prior.name}{mark} on {ends} (its cells agree with it to {AGREEMENT:g})"
