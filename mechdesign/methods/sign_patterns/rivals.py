"""Published ways to report several numbers, each with the variance of a number x in [-1, 1]: ``alpha + beta x^2``.

*Sampled* ways draw k of d numbers and report each of them with ``eps / k`` by a mechanism for one number; *split* ways
draw all. With the variance ``v(x)`` of one report the estimate ``(d/k) Y`` of drawn numbers, 0 of others, has
``(d/k)(v(x) + x^2) - x^2``. Wang et al. (ICDE 2019) draw ``k = max(1, min(d, floor(eps / 2.5)))``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from mechdesign.exact.caps import lean_by_caps
from mechdesign.mechanisms import catalogue
from mechdesign.values.declare import frozen

OF_ONE = ("duchi", "pm", "hm", "laplace", "staircase")
"""Mechanisms for one number whose variance is ``alpha + beta x^2``."""


@frozen
class VectorRival:
    """A published way, by the variance of each number in [-1, 1]."""

    name: str
    alpha: float
    beta: float

    def worst(self, halves: Sequence[float]) -> float:
        """The variance of all numbers together at the worst input, for ranges of these half-lengths."""
        return max(self.alpha, self.alpha + self.beta) * sum(half**2 for half in halves)

    def average(self, halves: Sequence[float], squares: Sequence[float]) -> float:
        """The same on average over people, ``squares`` being the mean of ``x^2`` of each number in [-1, 1]."""
        return sum(half**2 * (self.alpha + self.beta * square) for half, square in zip(halves, squares, strict=True))


def drawn_by_wang(epsilon: float, count: int) -> int:
    """How many of the numbers Wang et al. draw.

    >>> [drawn_by_wang(eps, 10) for eps in (1.0, 5.0, 50.0)]
    [1, 2, 10]
    """
    return max(1, min(count, math.floor(epsilon / 2.5)))


def vector_rivals(epsilon: float, count: int) -> tuple[VectorRival, ...]:
    """All of them, for so many numbers.

    >>> [(rival.name, round(rival.worst([1.0] * 10), 1)) for rival in vector_rivals(4.0, 10)[-2:]]
    [("duchi's for several numbers", 275.9), ('privunit on the ball around', 46.7)]
    """
    return (*rivals_on_cubes(epsilon, count), _priv_unit(epsilon, count))


def rivals_on_cubes(epsilon: float, count: int) -> tuple[VectorRival, ...]:
    """Those that are made for ``[-1, 1]^d``, which serve all vectors inside of it."""
    ways = {"split": count, "sampled": drawn_by_wang(epsilon, count)}
    if ways["split"] == ways["sampled"]:
        del ways["sampled"]
    found = [_drawn(f"{name}, {way}", name, epsilon, count, drawn) for name in OF_ONE for way, drawn in ways.items()]
    return (*found, _duchi(epsilon, count))


def _drawn(name: str, key: str, epsilon: float, count: int, drawn: int) -> VectorRival:
    mechanism = catalogue.build(key, epsilon / drawn, catalogue.SYMMETRIC)
    middle, end = mechanism.variance(np.array([0.0, 1.0])).tolist()
    times = count / drawn
    return VectorRival(name, times * middle, times * (end - middle + 1) - 1)


def _duchi(epsilon: float, count: int) -> VectorRival:
    """A corner of ``[-B, B]^d`` on one's own side (Duchi, Jordan and Wainwright 2018): B by the share of signs kept."""
    corners = 2**count + (math.comb(count, count // 2) if count % 2 == 0 else 0)
    kept = 2 * math.comb(count - 1, count // 2)
    return VectorRival("duchi's for several numbers", (corners / kept / math.tanh(epsilon / 2)) ** 2, -1.0)


def _priv_unit(epsilon: float, count: int) -> VectorRival:
    """A direction, more often from the best cap around one's own corner (Bhowmick et al. 2018)."""
    return VectorRival("privunit on the ball around", float(lean_by_caps(count, epsilon)) ** -2, -1.0)
