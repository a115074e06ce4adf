"""The least average error over *all* epsilon-LDP mechanisms on a line under a prior, in integer arithmetic.

**Theorem.** For a loss ``|y - x|^p`` and any prior, randomised response on bins is optimal: split the line into k
intervals with an output each, and report the output of the input's own bin with probability ``c / (c + k - 1)``, any
other with ``1 / (c + k - 1)``, ``c = e^eps``.

*Proof.* Let mu be the base measure of an optimal mechanism (``mu <= q(.|x) <= c mu``), laid out along ``[0, |mu|]`` in
the order of the outputs. The best law of an input tops up the outputs nearest to it: a window of length
``L = (1 - |mu|) / (c - 1)`` of that stretch, which moves right with the input. For ``u`` in ``[0, L)`` take the places
``u, u + L, u + 2L, ...``. Every window holds exactly one of them, so they are the outputs of a randomised response on
as many bins, and the mechanism is the mixture of these over u. An average is linear: one of them is as good.  QED

So the optimum is the least of ``sum over bins of cost(bin) / (c + k - 1)`` over partitions of the data into intervals,

    ``cost(S) = min over y of sum_x w_x loss(y, x) + (c-1) sum over x in S of w_x loss(y, x)``.

Fix a number t. If D is the least of ``sum over bins of (cost(bin) - t)``, a shortest path over bin edges, every
partition has value at least ``(D + k t) / (c + k - 1)``, at least ``min(t, (D + t) / c)``. The path is found here in
integers, every cost rounded down: O(n^2), no solver, and t is a mere guess that can only make the bound weaker.

**Cells.** A prior of many values, or a density, is held as cells: range, mean m, weight W and variance. By Jensen a
cell that no edge cuts costs at least what its mean does (plus its variance for p = 2). The least of the losses to
several outputs is R-Lipschitz, with R = 1 for p = 1 and R the range of the data for p = 2 (up to ``x^2 + a x``): giving
a cell that edges cut to one of its bins as a whole saves at most ``(c-1) W R E|x - m|``, and ``E|x - m|`` is at most
``2 (m - l)(h - m) / (h - l)`` and the standard deviation. Charged to the edges on both sides of each cell, this bounds
*every* prior with these cells.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.partition import best_partition, bin_costs, medians
from mechdesign.exact.rational import exp_upper
from mechdesign.words.cells import Cells

_BITS = 64  # of the upper bound of e^eps
_MOST_WORK = 4000**2 * 1000  # pairs of cells times bits of a number: a minute, where honest cells take seconds


@lru_cache(maxsize=8)
def least_average(epsilon: float, exponent: int, cells: Cells) -> Fraction:
    """A lower bound of the average of ``|y - x|^exponent``, 1 or 2, over all epsilon-LDP mechanisms.

    It is tight up to rounding and the cells' widths.

    >>> two = Cells.of_atoms([0.0, 1.0], [0.5, 0.5])
    >>> 0.196611 < least_average(1.0, 2, two) < 0.19661194  # c / (1 + c)^2
    True
    """
    gain = float(math.expm1(epsilon))
    exact = _ExactCosts(epsilon, exponent, cells)
    weights = cells.weights / cells.weights.sum()
    penalties = gain * np.array([float(value) for value in cells.penalties(exponent)]) / float(cells.weights.sum())
    costs = bin_costs(cells.means - cells.means[0], weights, 1 + gain, exponent)
    guess = best_partition(costs, penalties, 1 + gain)
    level = exact.level_of(guess.edges)
    shortest = exact.shortest_path(level)
    # min(t, (D + t) / c): with one bin the second is the most
    least = min(level, (shortest + level) * exact.one // exact.ratio)
    total = sum(map(Fraction, cells.weights.tolist()))
    mean = Fraction(least, exact.unit) / total
    # mu has mass 1/c at least: the best single output, which costs c times its error as one bin, over c; no edges cut
    floor = Fraction(int(exact.row(exact.count)[0]), exact.unit) * Fraction(exact.one, exact.ratio) ** 2 / total
    if exponent == 2:
        pairs = zip(cells.weights.tolist(), cells.variances.tolist(), strict=True)
        mean += sum((Fraction(w) * Fraction(v) for w, v in pairs), Fraction(0)) / total
    # only now: what the penalties take below zero counts against the variances
    return max(Fraction(0), floor, mean)


class _ExactCosts:
    """Costs of bins as integers, multiples of ``1 / unit`` rounded down, for a rational upper bound of ``e^eps``."""

    def __init__(self, epsilon: float, exponent: int, cells: Cells) -> None:
        self.exponent = exponent
        self.one = 1 << _BITS
        self.ratio = math.ceil(exp_upper(epsilon) * self.one)
        self.gain = self.ratio - self.one
        origin = Fraction(float(cells.means[0]))
        places, place_unit = _whole([Fraction(x) - origin for x in cells.means.tolist()])
        weights, weight_unit = _whole([Fraction(w) for w in cells.weights.tolist()])
        self.unit = weight_unit * self.one * place_unit**exponent
        bits = self.unit.bit_length() + exponent * max(abs(place) for place in places).bit_length()
        if len(places) ** 2 * bits > _MOST_WORK:
            raise CheckFailed(f"{len(places)} values or weights that differ in size by {bits} bits are not added up")
        penalties = cells.penalties(exponent)
        scale = Fraction(self.gain * self.unit, self.one)
        self.penalties = np.array([math.ceil(value * scale) for value in penalties], dtype=object)
        self.places = np.array(places, dtype=object)
        self.moments = []
        for order in range(exponent + 1):
            sums = [0]
            for w, x in zip(weights, places, strict=True):
                sums.append(sums[-1] + w * x**order)
            self.moments.append(np.array(sums, dtype=object))
        self.gained = [self.gain * moment for moment in self.moments]
        self.plain = [self.one * moment for moment in self.moments]
        self.count = len(places)
        self.mass = np.append(0.0, np.cumsum(cells.weights))

    def level_of(self, edges: Sequence[int]) -> int:
        """The value of a partition, rounded down."""
        paid = sum(int(self.row(b)[a]) for a, b in zip(edges[:-1], edges[1:], strict=True))
        saved = sum(int(self.penalties[e]) for e in edges)
        return (paid - saved) * self.one // (self.gain + (len(edges) - 1) * self.one)

    def shortest_path(self, level: int) -> int:
        """At most the least ``sum of (cost - level) - penalties`` over partitions."""
        reach = np.zeros(self.count + 1, dtype=object)
        reach[0] = -self.penalties[0]
        for j in range(1, self.count + 1):
            reach[j] = int((reach[:j] + self.row(j)).min()) - level - self.penalties[j]
        return int(reach[-1])

    def row(self, stop: int) -> NDArray[np.object_]:
        """The costs of cells ``i .. stop - 1`` for every i below ``stop``."""
        return self._absolute(stop) if self.exponent == 1 else self._squared(stop)

    def _squared(self, stop: int) -> NDArray[np.object_]:
        """``A_2 - A_1^2 / A_0`` with the moments A of all data plus c - 1 times the bin's."""
        zeroth, first, second = (
            plain[-1] + gained[stop] - gained[:stop] for plain, gained in zip(self.plain, self.gained, strict=True)
        )
        return np.asarray((second * zeroth - first * first) // zeroth)

    def _absolute(self, stop: int) -> NDArray[np.object_]:
        """At the weighted median: a guess in doubles, moved until it is one exactly."""
        starts = np.arange(stop)
        total, first = (
            plain[-1] + gained[stop] - gained[:stop] for plain, gained in zip(self.plain, self.gained, strict=True)
        )
        median = medians(self.mass, stop, self.gain / self.one)
        while True:
            upto = self._upto(0, median + 1, starts, stop)
            too_low = 2 * upto < total
            too_high = 2 * self._upto(0, median, starts, stop) > total
            if not (too_low.any() or too_high.any()):
                break
            median = median + too_low.astype(np.intp) - too_high.astype(np.intp)
        below = self._upto(1, median + 1, starts, stop)
        return np.asarray(first - 2 * below + self.places[median] * (2 * upto - total))

    def _upto(self, order: int, count: NDArray[np.intp], starts: NDArray[np.intp], stop: int) -> NDArray[np.object_]:
        """The moment of the first ``count`` cells, those from ``starts`` to ``stop`` counted c times."""
        gained = self.gained[order]
        return np.asarray(self.plain[order][count] + gained[np.clip(count, starts, stop)] - gained[:stop])


def _whole(values: list[Fraction]) -> tuple[list[int], int]:
    """Doubles as whole multiples of ``1 / unit``."""
    unit = math.lcm(*(value.denominator for value in values))
    return [int(value * unit) for value in values], unit
