"""The best mechanism whose reports may be any place of the plane: rectangles are cut where the bound is lost.

*Below.* The program with reports at the corners of rectangles, counted there with tangents (`mechdesign.exact.tiling`):
a relaxation, as every report in a rectangle may be moved to its corners. What its table would lose more at true
distances is what the bound may gain, rectangle by rectangle; those with most of it are cut into four, at inputs inside
them or else in the middle. Tangents lose what grows with the square of a rectangle's size, so few rounds do.

*Above.* The program with true distances and reports at some places: those of the round before, the corners that the
relaxation uses most, and each place that a column of the table would rather have: the mean of what it is reported for,
or the place with the least sum of distances, by Weiszfeld's iteration.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from mechdesign.exact.tiling import LEAF, corner_losses, corners, tangents, tiles
from mechdesign.methods.pairwise.answer import answered
from mechdesign.methods.pairwise.blocks import Solved, proven, solved
from mechdesign.methods.pairwise.few_flows import few_flows
from mechdesign.methods.pairwise.plane_proof import MOST_LOSSES, PlaneBound
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.methods.result import Design
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.classes import InPlane
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric, irreducible
from mechdesign.words.places import distances
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_FIRST_CUTS = 4  # times all parts are cut in two before the first program
_PROGRAM_SHARE, _LOWER_SHARE = 0.02, 0.05  # of the gap asked for
_SOON = 0.1  # of the gap that is left: rounds need no more
_ENOUGH = 0.85  # of the gap: the rest is for repair, thinner flows and fewer places
_FEWER = 0.05  # of the gap, to fewer places
_LOST = 0.9  # of the loss of the bound, in rectangles that are cut
_CUT = 0.3  # of the rectangles are cut at most, and some more
_PLACES = 1, 30  # an input and in all: places that go on to the next round
_SAME = 1e-3  # of the box: of places that are nearer than that one goes on
_NEAR = 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4  # of the box: places that may be one
_STEPS = 40  # of Weiszfeld's iteration
_DIGITS = 7  # of the box: places are rounded
_MOST_DOUBLES = 200_000_000
_ARRAYS = 25, 5  # of doubles in the program, for each pair of a block, and for each two of its inputs


def optimal_in_plane(problem: Problem, gap: float, clock: Clock, say: Callable[[float, float], object]) -> Design:
    """The certified optimum over all places of the plane, or `NoAnswer` with the best until then.

    The design's problem has the places that are reported. ``say`` hears of bounds in doubles.
    """
    below, above, rounds, ended = _Below.of(problem), _Above.of(problem), 0, ""
    lower, upper, best_below, best_above = -np.inf, np.inf, None, None
    nothing = problem.negligible
    while not ended:
        left = (upper - lower) / upper if rounds else 1.0
        asked = max(gap, _SOON * left)
        relaxed = solved(problem, below.losses, _LOWER_SHARE * asked, clock.deadline)
        value = max(0.0, proven(problem, below.losses, relaxed.weights, relaxed.flows))
        if value > lower:
            lower, best_below = value, (below, relaxed)
        above = above.with_corners(below, relaxed)
        reached = solved(problem, above.losses(problem), _PROGRAM_SHARE * asked, clock.deadline)
        if reached.upper < upper:
            upper, best_above = reached.upper, (above, reached)
        rounds += 1
        say(lower, upper)
        if upper - lower <= max(_ENOUGH * gap * upper, nothing) or clock.is_over:
            break
        above, below = above.moved(problem, reached), below.cut(relaxed)
        ended = below.too_large
    assert best_below is not None
    assert best_above is not None
    (below, relaxed), (above, reached) = best_below, _fewer(problem, gap, *best_above, clock)
    flows = few_flows(problem, gap, below.losses, relaxed.weights, relaxed.flows)
    weights = np.empty(0) if problem.weights is not None else relaxed.weights
    evidence = PlaneBound(weights, below.axes, below.cuts, *flows.T)
    found = evolved(problem, among=InPlane(above.places))
    details = {"rounds": rounds, "rectangles": len(below.tiles), "flows": len(flows)}
    return answered(found, gap, clock, evidence, reached.table, details, ended or "rounding ended the search")


def _asked(problem: Problem) -> tuple[Floats, float]:
    """Where inputs are, and the power of the distance that is lost."""
    privacy, loss = problem.privacy, problem.loss
    assert isinstance(privacy, Metric)
    assert isinstance(loss, Distances)
    return privacy.points, loss.exponent


@frozen
class _Below:
    """Rectangles, and what reports at their corners count."""

    points: Floats
    exponent: float
    pairs: int
    axes: Floats
    cuts: Floats
    tiles: Floats
    losses: Floats

    @classmethod
    def of(cls, problem: Problem) -> _Below:
        (points, exponent), pairs = _asked(problem), len(irreducible(pairs_of(problem))[0])
        axes, cuts = np.array([float(LEAF)]), np.empty(0)
        for _ in range(_FIRST_CUTS):
            parts = tiles(points, axes, cuts)
            axes, cuts = _cut(points, axes, cuts, np.ones(len(parts), dtype=bool), 1)
        return cls._with(points, exponent, pairs, axes, cuts)

    @classmethod
    def _with(cls, points: Floats, exponent: float, pairs: int, axes: Floats, cuts: Floats) -> _Below:
        parts = tiles(points, axes, cuts)
        return cls(points, exponent, pairs, axes, cuts, parts, corner_losses(points, parts, exponent))

    def cut(self, relaxed: Solved) -> _Below:
        """With the rectangles cut in four that lose most of the bound."""
        places, at = corners(self.tiles)
        true = distances(places, self.points) ** self.exponent
        used = (relaxed.table.T * relaxed.weights)[at]
        lost = (used * (true[at] - tangents(self.points, self.tiles, self.exponent))).sum(axis=(1, 2))
        order = np.argsort(-lost)
        enough = int(np.searchsorted(np.cumsum(lost[order]), _LOST * lost.sum())) + 1
        chosen = np.zeros(len(lost), dtype=bool)
        chosen[order[: min(enough, int(_CUT * len(lost)) + _FIRST_CUTS)]] = True
        axes, cuts = _cut(self.points, self.axes, self.cuts, chosen, 2)
        return self._with(self.points, self.exponent, self.pairs, axes, cuts)

    @property
    def too_large(self) -> str:
        """Why rectangles cannot be cut further; empty while they can."""
        per_pair, per_two = _ARRAYS
        doubles = self.losses.shape[1] * (per_pair * self.pairs + per_two * len(self.points) ** 2)
        if doubles > _MOST_DOUBLES or 4 * self.axes.size * len(self.points) > MOST_LOSSES:
            return f"{len(self.tiles)} rectangles were too many"
        return ""


def _cut(points: Floats, axes: Floats, cuts: Floats, chosen: Floats, times: int) -> tuple[Floats, Floats]:
    """The list of cuts with the chosen rectangles cut in two, and their parts again."""
    new_axes: list[float] = []
    new_cuts: list[float] = []

    def add(part: list[float], left: int) -> None:
        place = _place(points, part) if left else None
        if place is None:
            new_axes.append(LEAF)
            return
        axis, at = place
        new_axes.append(axis)
        new_cuts.append(at)
        add([*part[: axis + 2], at, *part[axis + 3 :]], left - 1)
        add([*part[:axis], at, *part[axis + 1 :]], left - 1)

    parts, is_chosen, old = iter(tiles(points, axes, cuts).tolist()), iter(chosen.tolist()), iter(cuts.tolist())
    for axis in axes.tolist():
        if axis == LEAF:
            add(next(parts), times if next(is_chosen) else 0)
        else:
            new_axes.append(axis)
            new_cuts.append(next(old))
    return np.array(new_axes), np.array(new_cuts)


def _place(points: Floats, part: list[float]) -> tuple[int, float] | None:
    """Where a rectangle is cut: across its longer side, at the input inside it that is nearest to its middle."""
    axis = int(part[3] - part[1] > part[2] - part[0])
    low, high = part[axis], part[axis + 2]
    middle = low + (high - low) / 2
    inside = ((points >= part[:2]) & (points <= part[2:])).all(axis=1)
    here = points[inside, axis]
    here = here[(here > low) & (here < high)]
    at = float(here[np.argmin(np.abs(here - middle))]) if here.size else middle
    return (axis, at) if low < at < high else None


@frozen
class _Above:
    """Places to report."""

    places: Floats
    unit: float

    @classmethod
    def of(cls, problem: Problem) -> _Above:
        places = problem.table.places
        assert places is not None
        span = float(np.ptp(_asked(problem)[0], axis=0).max())
        unit = 10.0 ** (np.floor(np.log10(span)) - _DIGITS) if span > 0 else 0.0
        return cls(np.unique(places, axis=0), unit)

    def losses(self, problem: Problem) -> Floats:
        points, exponent = _asked(problem)
        return distances(points, self.places) ** exponent

    def with_corners(self, below: _Below, relaxed: Solved) -> _Above:
        """And the corners that the relaxation uses most."""
        count = _most(len(below.points))
        most = corners(below.tiles)[0][_by_use(relaxed)[:count]]
        return _Above(np.unique(np.concatenate([self.places, most]), axis=0), self.unit)

    def moved(self, problem: Problem, reached: Solved) -> _Above:
        """The places that are used most, and where their reports would rather be."""
        points, exponent = _asked(problem)
        mass = (reached.table * reached.weights[:, None]).T
        near = _SAME * float(np.ptp(points, axis=0).max())
        most = _apart(self.places, _by_use(reached), near)[: _most(len(points))]
        places, mass = self.places[most], mass[most]
        better = _better(points, places, mass) if exponent == 1 else _means(points, mass)
        if self.unit > 0:
            better = np.round(better / self.unit) * self.unit
        return _Above(np.unique(np.concatenate([places, better]), axis=0), self.unit)

    def only(self, which: Places) -> _Above:
        return _Above(self.places[which], self.unit)


def _most(inputs: int) -> int:
    each, more = _PLACES
    return each * inputs + more


def _means(points: Floats, mass: Floats) -> Floats:
    return np.asarray(mass @ points / mass.sum(axis=1, keepdims=True))


def _better(points: Floats, places: Floats, mass: Floats) -> Floats:
    """Weiszfeld's iteration; near an input it stays there."""
    least = 1e-9 * float(np.ptp(points, axis=0).max())
    for _ in range(_STEPS):
        places = _means(points, mass / np.maximum(distances(places, points), max(least, 1e-300)))
    return places


def _fewer(problem: Problem, gap: float, above: _Above, reached: Solved, clock: Clock) -> tuple[_Above, Solved]:
    """Of places that are near each other one, and half of them again and again, while next to nothing is lost."""
    most = reached.upper * (1 + _FEWER * gap)
    span = float(np.ptp(_asked(problem)[0], axis=0).max())

    def tried(which: Places) -> bool:
        nonlocal above, reached
        if len(which) == len(above.places) or clock.is_over:
            return False
        fewer = above.only(np.sort(which))
        found = solved(problem, fewer.losses(problem), _PROGRAM_SHARE * gap, clock.deadline)
        if found.upper > most:
            return False
        above, reached = fewer, found
        return True

    for near in _NEAR:
        if tried(_apart(above.places, _by_use(reached), near * span)):
            break
    while tried(_by_use(reached)[: (len(above.places) + 1) // 2]):
        pass
    return above, reached


def _by_use(reached: Solved) -> Places:
    """The places, those that are reported most first."""
    return np.argsort(-(reached.table * reached.weights[:, None]).sum(axis=0))


def _apart(places: Floats, order: Places, least: float) -> Places:
    """The places in this order without those that are nearer than that to one before."""
    found: list[int] = []
    for place in order.tolist():
        if not found or distances(places[[place]], places[found]).min() >= least:
            found.append(place)
    return np.array(found)
