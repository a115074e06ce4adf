"""Rivals on a finite set of points: exponential mechanism, L-SRR, NGram and ATP.

Each comes with the law that the chapter's published code samples (``published=True``), so that both can be shown, and
with one that spends at most the epsilon it says. `channel_loss` computes what a law over the points really spends.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon, require_whole
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Region, require_places
from mechdesign.studies.places.rounding import nearest_points, require_points
from mechdesign.values.declare import Floats, content, field, frozen, settle
from mechdesign.values.later import optimize

Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

MOST_POINTS = 10_000
_SAFE = 1 - 1e-9  # of epsilon: rounding of the channel may not lift its loss above it
SECTORS = 6


@frozen
class Points:
    """Points of interest in a region, with their distances."""

    region: Region
    table: Floats = field(eq=content)
    distances: Floats = field(init=False, repr=False, eq=False)

    def __attrs_post_init__(self) -> None:
        table = require_points(self.region, self.table)
        if len(table) > MOST_POINTS:
            raise InvalidInput("points of interest", len(table), f"be at most {MOST_POINTS}", "round to a coarser set")
        settle(self, table=table, distances=np.hypot(*(table[:, None] - table).transpose(2, 0, 1)))

    def of(self, places: Floats) -> Places:
        """The number of the nearest point for each place."""
        return nearest_points(self.table, require_places(self.region, places))

    @property
    def diameter(self) -> float:
        return float(self.distances.max())


def channel_loss(weights: Floats) -> float:
    """``ln max q(y|x)/q(y|x')`` of the channel with these weights, rows normalised; infinite where only one is 0.

    >>> round(channel_loss(np.array([[3.0, 1.0], [1.0, 3.0]])), 6) == round(math.log(3), 6)
    True
    """
    rows = weights / weights.sum(axis=1, keepdims=True)
    most, least = rows.max(axis=0), rows.min(axis=0)
    if ((least == 0) & (most > 0)).any():
        return math.inf
    used = most > 0
    return float(np.log(most[used] / least[used]).max())


@frozen
class PointMechanism:
    """Every location goes to its nearest point, and the point through one channel over all points."""

    points: Points
    epsilon: float
    cumulative: Floats = field(repr=False)
    loss: float
    name: str

    @property
    def region(self) -> Region:
        return self.points.region

    def privacy_loss(self) -> float:
        """The epsilon a location really spends."""
        return self.loss

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        inputs = self.points.of(paths.places)
        return paths.replaced(self.points.table[draw_rows(self.cumulative[inputs], rng)])


def exponential(points: Points, epsilon: float, *, published: bool = False) -> PointMechanism:
    """Weights ``e^(-rate distance)``. The rate is the largest whose channel loses at most epsilon.

    The published code takes ``epsilon / (2 d)`` with d the farthest point *from the input*, which depends on the input
    and spends about half of epsilon, or a little more than that at the sides.
    """
    epsilon = require_epsilon(epsilon)
    distances = points.distances
    if published:
        weights = np.exp(-epsilon / 2 * distances / distances.max(axis=1, keepdims=True))
        return _point_mechanism(points, epsilon, weights, "exponential (published)")
    rate = _largest(lambda r: channel_loss(np.exp(-r * distances)), epsilon, epsilon / points.diameter)
    return _point_mechanism(points, epsilon, np.exp(-rate * distances), "exponential")


def staircase(
    points: Points, epsilon: float, groups: tuple[float, float] = (0.3, 0.6), *, published: bool = False
) -> PointMechanism:
    """L-SRR: near points have the largest weight, far ones the smallest, those between the middle of the two.

    ``groups`` are parts of the longest side of the region. The published code takes the number epsilon for the ratio of
    the weights where ``e^epsilon`` belongs: it spends about ``ln epsilon``. Groups differ in size from input to input,
    so the ratio of weights is not the ratio of probabilities; here it is the largest that keeps those within epsilon.
    """
    epsilon = require_epsilon(epsilon)
    west, east, south, north = points.region.bounds
    longest = max(east - west, north - south)
    near, far = (points.distances <= part * longest for part in groups)

    def weights(ratio: float) -> Floats:
        return np.where(near, ratio, np.where(far, (1 + ratio) / 2, 1.0))

    if published:
        return _point_mechanism(points, epsilon, weights(epsilon), "L-SRR (published)")
    # where no point is far from any other, levels say little and no ratio loses epsilon
    found = _largest(lambda log: channel_loss(weights(math.exp(log))), epsilon, epsilon / 2, MAX_EPSILON)
    return _point_mechanism(points, epsilon, weights(math.exp(found)), "L-SRR")


@frozen
class NGram:
    """The exponential mechanism among the points that can be reached.

    Reachable is what lies within ``reach`` of the *report* before, which is public; at first, of anything. The rate
    ``epsilon / (2 diameter)`` suffices for every set of outputs. The published code takes what is reachable from the
    true location, so that outputs tell which locations are impossible: its loss is infinite.
    """

    points: Points
    epsilon: float
    reach: float
    published: bool = False

    @property
    def name(self) -> str:
        return "NGram (published)" if self.published else "NGram"

    @property
    def region(self) -> Region:
        return self.points.region

    def privacy_loss(self) -> float:
        """What a location spends at most; as published infinite, unless everything is reachable."""
        if self.published:
            return channel_loss(self._published_weights(np.arange(len(self.points.table))))
        return self.epsilon

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        inputs = self.points.of(paths.places)
        result = np.empty(len(inputs), dtype=np.intp)
        for step, rows in enumerate(paths.steps()):
            if self.published:
                weights = self._published_weights(inputs[rows])
            else:
                weights = np.exp(-self.epsilon / (2 * self.points.diameter) * self.points.distances[inputs[rows]])
                if step:
                    weights = np.where(self.points.distances[result[rows - 1]] <= self.reach, weights, 0.0)
            result[rows] = draw_rows(cumulative_rows(weights), rng)
        return paths.replaced(self.points.table[result])

    def _published_weights(self, inputs: Places) -> Floats:
        distances = self.points.distances[inputs]
        reachable = distances <= self.reach
        farthest = np.where(reachable, distances, 0.0).max(axis=1, keepdims=True)
        scaled = -self.epsilon / 2 * distances / np.where(farthest > 0, farthest, 1.0)
        return np.where(reachable, np.exp(scaled), 0.0)


@frozen
class ATP:
    """Two copies of a path: in each every other location is drawn first, the others among points in the directions seen
    from their neighbours' reports; the point nearest to both copies is reported.

    Of the epsilon of a location each copy takes half: all of it for a location drawn first (exponential mechanism), for
    the others three quarters for two directions (k-RR of 6 sectors) and a quarter for the point among those left. The
    rates are those that suffice for every set of outputs, so a location spends at most epsilon. (The published
    code's is `PublishedATP`.)
    """

    points: Points
    epsilon: float
    name: str = "ATP"

    @property
    def region(self) -> Region:
        return self.points.region

    def privacy_loss(self) -> float:
        """At most this: the parts of both copies add up."""
        return self.epsilon

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        inputs = self.points.of(paths.places)
        copies = [self._copy(paths, inputs, parity, rng) for parity in (1, 0)]
        return paths.replaced(self.points.table[between_copies(self.points, *copies)])

    def _copy(self, paths: Paths, inputs: Places, parity: int, rng: np.random.Generator) -> Places:
        order = np.arange(len(inputs)) - np.repeat(paths.starts[:-1], paths.lengths)
        last = order == np.repeat(paths.lengths, paths.lengths) - 1
        first = (order % 2 == parity) | (order == 0) | last
        result = np.empty(len(inputs), dtype=np.intp)
        alone = np.flatnonzero(first)
        for rows in blocks(len(alone)):
            weights = self._weights(inputs[alone[rows]], self.epsilon / 2)
            result[alone[rows]] = draw_rows(cumulative_rows(weights), rng)
        between = np.flatnonzero(~first)
        for rows in blocks(len(between)):
            chosen = between[rows]
            left = self._seen(result[chosen - 1], inputs[chosen], rng) & self._seen(
                result[chosen + 1], inputs[chosen], rng
            )
            left[~left.any(axis=1)] = True  # no point lies in both directions: all of them do
            weights = np.where(left, self._weights(inputs[chosen], self.epsilon / 8), 0.0)
            result[chosen] = draw_rows(cumulative_rows(weights), rng)
        return result

    def _weights(self, inputs: Places, epsilon: float) -> Floats:
        return np.exp(-epsilon / (2 * self.points.diameter) * self.points.distances[inputs])

    def _seen(self, origins: Places, inputs: Places, rng: np.random.Generator) -> Mask:
        """Which points lie in the sector that k-RR reports for the direction from each origin to its input."""
        epsilon = self.epsilon / 2 * 0.75 / 2
        sectors = self._sector(self.points.table[origins][:, None], self.points.table[inputs][:, None])[:, 0]
        keep = math.exp(epsilon) / (math.exp(epsilon) + SECTORS - 1)
        moved = 1 + rng.integers(0, SECTORS - 1, len(origins))
        told = np.where(rng.random(len(origins)) < keep, sectors, (sectors + moved) % SECTORS)
        return np.asarray(self._sector(self.points.table[origins][:, None], self.points.table[None]) == told[:, None])

    @staticmethod
    def _sector(origins: Floats, places: Floats) -> Places:
        offset = places - origins
        turns = np.arctan2(offset[..., 1], offset[..., 0]) / (2 * math.pi) % 1.0
        return np.minimum((turns * SECTORS).astype(np.intp), SECTORS - 1)


def ngram(points: Points, epsilon: float, reach: float = 0.75, *, published: bool = False) -> NGram:
    """`NGram` with a reach of that part of the longest side of the region."""
    west, east, south, north = points.region.bounds
    return NGram(points, require_epsilon(epsilon), reach * max(east - west, north - south), published)


def grid_points(region: Region, count: int) -> Points:
    """A square grid of points, ``count`` a side, at the south west corners of equal cells as in the chapter."""
    side = np.arange(require_whole(count, "count", 2, 100)) / count
    west, east, south, north = region.bounds
    x, y = np.meshgrid(west + side * (east - west), south + side * (north - south))
    return Points(region, np.column_stack([x.ravel(), y.ravel()]))


def _point_mechanism(points: Points, epsilon: float, weights: Floats, name: str) -> PointMechanism:
    return PointMechanism(points, epsilon, cumulative_rows(weights), channel_loss(weights), name)


def _largest(loss: Callable[[float], float], epsilon: float, start: float, most: float = math.inf) -> float:
    """The largest parameter with a loss of at most epsilon; losses rise from 0. ``most`` if none loses that much."""
    high = start
    while loss(high) < epsilon:
        if high >= most:
            return most
        high = min(2 * high, most)
    found = float(
        optimize.brentq(lambda value: loss(value) - epsilon * _SAFE, 0.0, high, xtol=1e-12 * high, rtol=1e-12)
    )
    while loss(found) > epsilon:
        found *= _SAFE
    return found


def between_copies(points: Points, first: Places, second: Places) -> Places:
    """The point nearest to both copies of each location, the first of the table where several are."""
    merged = np.empty(len(first), dtype=np.intp)
    for rows in blocks(len(first)):
        merged[rows] = (points.distances[first[rows]] + points.distances[second[rows]]).argmin(axis=1)
    return merged


def cumulative_rows(weights: Floats) -> Floats:
    """The cumulative probabilities of each row of weights."""
    total = np.cumsum(weights, axis=1)
    return np.asarray(total / total[:, -1:])


def draw_rows(cumulative: Floats, rng: np.random.Generator) -> Places:
    """A column for each row, by its cumulative probabilities."""
    return np.asarray((cumulative <= rng.random((len(cumulative), 1))).sum(axis=1), dtype=np.intp)


def blocks(count: int, size: int = 256) -> list[slice]:
    """So many rows a few at a time: tables of rows by points are large."""
    return [slice(start, min(start + size, count)) for start in range(0, count, size)]
