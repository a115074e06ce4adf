"""The best partition of a prior into bins, in doubles: a guess from which `mechdesign.exact.bins` starts.

Randomised response on k bins has the average error ``sum of cost(bin) / (c + k - 1)``, ``c = e^eps``, with

    ``cost(S) = min over y of sum_x w_x loss(y, x) + (c-1) sum over x in S of w_x loss(y, x)``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.intp]


class Partition(NamedTuple):
    """The value of a partition and its edges ``0 = e_0 < ... < e_k = n``: bin b holds cells ``e_b .. e_(b+1) - 1``."""

    value: float
    edges: list[int]


def bin_costs(points: Floats, weights: Floats, ratio: float, exponent: int) -> Floats:
    """``cost(cells i .. j - 1)`` at ``[j, i]``, for weights that sum to one; O(1) each."""
    return _absolute_costs(points, weights, ratio) if exponent == 1 else _squared_costs(points, weights, ratio)


def best_partition(costs: Floats, penalties: Floats, ratio: float) -> Partition:
    """The least ``(sum of costs - sum of penalties) / (c + k - 1)``: Dinkelbach's method on shortest paths."""
    count = costs.shape[0] - 1
    edges = [0, count]
    value = _value(costs, penalties, ratio, edges)
    for _ in range(64):
        candidate = _path(costs - value, penalties)
        reached = _value(costs, penalties, ratio, candidate)
        if not reached < value:
            break
        value, edges = reached, candidate
    return Partition(value, edges)


def bin_outputs(points: Floats, weights: Floats, edges: Sequence[int], ratio: float, exponent: int) -> Floats:
    """The best output of each bin: a weighted median or mean of all data, the bin's own counted c times."""
    if exponent == 1:
        return np.asarray(points[bin_medians(weights, edges, ratio)])
    starts, gain = np.array(edges[:-1]), ratio - 1
    offsets = weights * (points - points[0])
    masses, firsts = (np.add.reduceat(values, starts) for values in (weights, offsets))
    means = points[0] + (offsets.sum() + gain * firsts) / (weights.sum() + gain * masses)
    return np.asarray(np.clip(means, points[0], points[-1]))


def bin_medians(weights: Floats, edges: Sequence[int], ratio: float) -> Indices:
    """The weighted median of all data for each bin, its own data counted c times, by index."""
    mass = np.append(0.0, np.cumsum(weights))
    pairs = zip(edges[:-1], edges[1:], strict=True)
    return np.array([int(medians(mass, stop, ratio - 1)[start]) for start, stop in pairs])


def _value(costs: Floats, penalties: Floats, ratio: float, edges: Sequence[int]) -> float:
    paid = math.fsum(float(costs[b, a]) for a, b in zip(edges[:-1], edges[1:], strict=True))
    saved = math.fsum(float(penalties[e]) for e in edges)
    return (paid - saved) / (ratio - 1 + len(edges) - 1)


def _path(costs: Floats, penalties: Floats) -> list[int]:
    count = costs.shape[0] - 1
    reach, back = np.zeros(count + 1), np.zeros(count + 1, dtype=np.intp)
    for j in range(1, count + 1):
        options = reach[:j] + costs[j, :j]
        back[j] = int(np.argmin(options))
        reach[j] = options[back[j]] - penalties[j]
    edges = [count]
    while edges[-1]:
        edges.append(int(back[edges[-1]]))
    return edges[::-1]


def _squared_costs(points: Floats, weights: Floats, ratio: float) -> Floats:
    """``V + (c-1) V_S + (c-1) W_S / (1 + (c-1) W_S) (m - m_S)^2``, with W, m and V built up without cancellation."""
    count, gain = points.size, ratio - 1
    centre = float(np.dot(weights, points))
    variance = float(np.dot(weights, (points - centre) ** 2))
    gaps = np.append(np.diff(points), 0.0)
    costs = np.zeros((count + 1, count + 1))
    mass, inner, ahead = np.zeros(count), np.zeros(count), np.zeros(count)
    for k in range(count):
        # cells i .. k - 1 have this mass, variance, and distance of their mean to cell k
        grown = mass[: k + 1] + weights[k]
        share = np.divide(mass[: k + 1], grown, out=np.zeros(k + 1), where=grown > 0)  # weights may be subnormal
        inner[: k + 1] += weights[k] * share * ahead[: k + 1] ** 2
        behind = ahead[: k + 1] * share
        mass[: k + 1] = grown
        ahead[: k + 1] = behind + gaps[k]
        pull = gain * grown / (1 + gain * grown)
        costs[k + 1, : k + 1] = variance + gain * inner[: k + 1] + pull * (points[k] - behind - centre) ** 2
    return costs


def _absolute_costs(points: Floats, weights: Floats, ratio: float) -> Floats:
    """At the weighted median, by running sums."""
    gain, points = ratio - 1, points - float(np.dot(weights, points))
    mass, first = np.append(0.0, np.cumsum(weights)), np.append(0.0, np.cumsum(weights * points))
    count = points.size
    costs = np.zeros((count + 1, count + 1))

    def sum_below(median: Indices, y: Floats, start: Indices | int, stop: int) -> Floats:
        split = np.clip(median, start, stop)
        below = y * (mass[split] - mass[start]) - (first[split] - first[start])
        return np.asarray(below + (first[stop] - first[split]) - y * (mass[stop] - mass[split]))

    for j in range(1, count + 1):
        starts = np.arange(j)
        median = medians(mass, j, gain)
        y = points[median]
        costs[j, :j] = sum_below(median, y, 0, count) + gain * sum_below(median, y, starts, j)
    return costs


def medians(mass: Floats, stop: int, gain: float) -> Indices:
    """The weighted median of all data plus ``gain`` times cells ``i .. stop - 1``, for every i below ``stop``."""
    before = mass[:stop]
    half = (mass[-1] + gain * (mass[stop] - before)) / 2
    inside = (half + gain * before) / (1 + gain)
    after = half - gain * (mass[stop] - before)
    level = np.where(half <= before, half, np.where(inside <= mass[stop], inside, after))
    return np.asarray(np.clip(np.searchsorted(mass, level) - 1, 0, mass.size - 2))
