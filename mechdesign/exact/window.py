"""The laws of a window mechanism without rounding: its worst error over all inputs, its average under a prior.

Places and masses are integers on common scales. Between two turns all inputs have one law: the base measure, and
``ratio - 1`` times the part of it in a window of constant length along the cumulative base.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from fractions import Fraction
from itertools import accumulate

from mechdesign.mechanisms.fill import ExactFill, Stretch, power_sum
from mechdesign.mechanisms.window import Window
from mechdesign.values.dyadic import dyadic
from mechdesign.words.cells import Cells


def exact_worst_error(mechanism: Window, exponent: int) -> Fraction:
    """``max over inputs of E|Y - x|^exponent`` of a window mechanism, over all real inputs, as an exact rational.

    Between turns the law is constant and the error convex in x, so the maximum is at a turn or an end. The turns are
    found again here with rational cumulative sums.

    >>> from mechdesign.words.domains import Interval
    >>> exact_worst_error(Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5), 1)
    Fraction(7, 16)
    """
    laws = ExactLaws(mechanism, [mechanism.inputs.lower, mechanism.inputs.upper], exponent)
    lower, upper = laws.places
    worst = 0
    for k, stretch in enumerate(laws.stretches):
        # this law holds from the last turn to the next one: the ends of that stretch are candidates
        begin = max(lower, laws.turns[k - 1]) if k else lower
        finish = min(upper, laws.turns[k]) if k < len(laws.turns) else upper
        if begin <= finish:
            worst = max(worst, *(laws.error(stretch, x) for x in {begin, finish}))
    return Fraction(worst, laws.unit)


def exact_average(mechanism: Window, cells: Cells, exponent: int) -> Fraction:
    """The average error as a rational; for wide cells the most over all priors with these cells.

    Inputs of a cell with another law than its mean's are served better by their own, so

        ``E over the cell <= sum_y q(y | mean) E |y - x|^p``,

    which is the error at the mean plus, for p = 2, the variance, and for p = 1 what outputs inside the cell can add.

    >>> from mechdesign.words.domains import Interval
    >>> half = Window(1.0, Interval(0, 1), [0.25, 0.75], [0.25, 0.25], 2.5)
    >>> exact_average(half, Cells.of_atoms([0.0, 1.0], [0.5, 0.5]), 1)
    Fraction(7, 16)
    """
    columns = [column.tolist() for column in (cells.lows, cells.means, cells.highs)]
    laws = ExactLaws(mechanism, [place for column in columns for place in column], exponent)
    count = cells.means.size
    lows, means, highs = (laws.places[k : k + count] for k in (0, count, 2 * count))
    weights, _ = dyadic(cells.weights)
    total = 0
    added = Fraction(0)
    for low, mean, high, weight, variance in zip(lows, means, highs, weights, cells.variances.tolist(), strict=True):
        stretch = laws.stretch_at(mean)
        total += weight * laws.error(stretch, mean)
        if exponent == 2:
            added += weight * Fraction(variance)
        elif low < high:
            added += weight * laws.excess(stretch, low, mean, high)
    return (Fraction(total, laws.unit) + added) / sum(weights)


class ExactLaws:
    """All laws of a window mechanism, and their errors at ``places`` as whole multiples of ``1 / unit``.

    The law of ``stretches[k]`` holds from ``turns[k - 1]`` to ``turns[k]``.
    """

    def __init__(self, mechanism: Window, places: Sequence[float], exponent: int) -> None:
        # twice the places, so that turns are whole
        sites, place_shift = dyadic([*mechanism.points.tolist(), *places])
        count = mechanism.points.size
        self.points, self.places = [2 * site for site in sites[:count]], [2 * site for site in sites[count:]]
        self._fill = ExactFill.over(mechanism.base, mechanism.ratio)
        self._exponent = exponent
        self._moments: list[list[int]] = [
            list(accumulate((m * y**order for y, m in zip(self.points, self._fill.masses, strict=True)), initial=0))
            for order in range(exponent + 1)
        ]
        self.unit = self._fill.unit << (exponent * (place_shift + 1))
        self.stretches = self._fill.stretches()
        # the law changes where the window leaves one output and enters another, at their midpoint
        middles = ((self.points[left] + self.points[right]) // 2 for _, _, left, right in self.stretches[:-1])
        self.turns = list(accumulate(middles, max))

    def stretch_at(self, x: int) -> Stretch:
        """The window of the input x; at a turn the left one."""
        return self.stretches[bisect_left(self.turns, x)]

    def error(self, stretch: Stretch, x: int) -> int:
        """``E|Y - x|^p`` under the law of a stretch: over the base, plus c - 1 times over the window."""
        window = self._upto(x, stretch.stop, stretch.last) - self._upto(x, stretch.start, stretch.first)
        return self._fill.one * self._over_base(x, len(self.points)) + window

    def mass(self, stretch: Stretch, k: int) -> int:
        """The probability of the output ``points[k]``, in multiples of one over the unit of masses."""
        return int(self._fill.mass(k, stretch.start))

    def excess(self, stretch: Stretch, low: int, mean: int, high: int) -> Fraction:
        """What spreading a cell's mass to its ends adds to the absolute error: only outputs inside it matter."""
        total = 0
        for k in range(bisect_right(self.points, low), bisect_left(self.points, high)):
            y = self.points[k]
            spread = (high - mean) * (y - low) + (mean - low) * (high - y)
            total += self.mass(stretch, k) * (spread - abs(y - mean) * (high - low))
        return Fraction(total, (high - low) * self.unit)

    def _over_base(self, x: int, count: int) -> int:
        """``sum mu |y - x|^p`` over the first ``count`` outputs."""
        total: int = power_sum(self._moments, x, min(bisect_left(self.points, x), count), count)
        return total

    def _upto(self, x: int, place: int, whole: int) -> int:
        """The same over the gains, up to a place inside output ``whole``."""
        rest = place - self._fill.reached[whole]
        value: int = self._fill.more * self._over_base(x, whole) + rest * abs(self.points[whole] - x) ** self._exponent
        return value
