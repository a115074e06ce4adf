"""The window of extra mass on a line of outputs: where it is for every input, and what it costs.

Along the cumulative base measure the topped-up part is a stretch of constant length ``E / (c - 1)``. It moves right
with the input: mass passes from output i to output j at their midpoint.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechdesign.mechanisms.fill import Fill, power_sum

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]

_SAME = 4e-16  # two places of the cumulative base closer than this are one
_SLIVER = 1e-13  # of the cumulative base, left out at the ends of the window when it is measured


@dataclass(frozen=True, slots=True, eq=False)
class Sliding:
    """At inputs beyond ``turns[k]`` the stretch starts at ``starts[k + 1]`` of the cumulative base.

    >>> window = Sliding.over(np.array([0.25, 0.75]), np.array([0.25, 0.25]), 3.0)
    >>> window.turns.tolist(), window.starts.tolist(), window.fill.length
    ([0.5], [0.0, 0.25], 0.25)
    """

    fill: Fill
    turns: Floats
    starts: Floats

    @classmethod
    def over(cls, points: Floats, base: Floats, ratio: float) -> Sliding:
        """The window over increasing ``points`` with positive masses ``base``."""
        fill = Fill.over(points, base, ratio)
        cumulative, length, last = fill.cumulative, fill.length, fill.last
        stops = np.concatenate([cumulative, cumulative - length, [0.0, last]])
        stops = np.unique(stops[(stops >= 0) & (stops <= last)])
        stops = stops[np.concatenate([[True], np.diff(stops) > _SAME])]
        middles = (stops[:-1] + stops[1:]) / 2
        most = points.size - 1
        left = np.minimum(np.searchsorted(cumulative, middles, side="right") - 1, most)
        right = np.minimum(np.searchsorted(cumulative, middles + length, side="right") - 1, most)
        turns = np.maximum.accumulate((points[left] + points[right]) / 2)
        return cls(fill, turns, stops)

    def start(self, x: Floats) -> Floats:
        """Where the window starts along the cumulative base."""
        return self.starts[np.searchsorted(self.turns, x, side="left")]

    def levels(self, x: Floats) -> tuple[Floats, Floats]:
        """Distances to the farthest output with more than its base, and to the nearest one with less than its fill.

        Any level between the two is a multiplier of the input's fill.
        """
        fill, points = self.fill, self.fill.points
        start, stop = self.start(x), self.start(x) + fill.length
        left = np.searchsorted(fill.cumulative, start + _SLIVER, side="right") - 1
        right = np.searchsorted(fill.cumulative, stop - _SLIVER, side="left") - 1
        left = np.clip(left, 0, points.size - 1)
        right = np.clip(right, left, points.size - 1)
        reached = np.maximum(np.abs(x - points[left]), np.abs(points[right] - x))
        around = np.concatenate([[-math.inf], points, [math.inf]])
        is_full_left = start <= fill.cumulative[left] + _SLIVER
        is_full_right = stop >= fill.cumulative[right + 1] - _SLIVER
        open_left = np.where(is_full_left, x - around[left], np.abs(x - points[left]))
        open_right = np.where(is_full_right, around[right + 2] - x, np.abs(points[right] - x))
        return reached, np.maximum(np.minimum(open_left, open_right), reached)

    def power_error(self, x: Floats, exponent: int) -> Floats:
        """``E|Y - x|^exponent`` by running sums, O(log m) an input.

        Absolute errors are near 1e-16 times the exponent's power of the range of outputs.
        """
        fill, points = self.fill, self.fill.points
        pivot = float(points[points.size // 2])
        offsets, at = points - pivot, x - pivot
        sums = [np.concatenate([[0.0], np.cumsum(fill.base * offsets**k)]) for k in range(exponent + 1)]

        def upto(count: Indices) -> Floats:
            return np.asarray(power_sum(sums, at, np.minimum(np.searchsorted(points, x), count), count))

        def upto_place(place: Floats) -> Floats:
            whole = np.minimum(np.searchsorted(fill.cumulative, place, side="right") - 1, points.size - 1)
            rest = place - fill.cumulative[whole]
            return np.asarray(upto(whole) + rest * np.abs(points[whole] - x) ** exponent)

        start = self.start(x)
        extra = upto_place(start + fill.length) - upto_place(start)
        return np.asarray(upto(np.full(x.shape, points.size)) + (fill.ratio - 1) * extra)
