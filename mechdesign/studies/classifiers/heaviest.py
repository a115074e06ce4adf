"""The box of most probability among those that hold a record and keep its label.

A box can reach far along one coordinate or along another, and which is better depends on where reports lie. So the
search weighs a box by the chance of a report in it (by its volume, where no mechanism is named).

**Linear models.** A face that moves out by z spends ``rate * z`` of every margin, and a margin may be spent once. With
one margin (two labels) the weight is a product over the coordinates under one budget: at a price of the margin every
coordinate chooses its faces alone, and the price at which the budget is spent is found by halving. The log of a
coordinate's share is concave in its face for all laws of the chapter but those on points, so this is the heaviest box
up to the grid of faces. With several margins the prices of their mixture follow what was spent of each, and the
heaviest of the boxes on the way is kept. What is left of the margins is spent on one face after the other.

**Trees.** Cells that lose the label are obstacles. A box that meets one must stop before it at some face, and what is
left bounds the weight of all boxes that do. The heaviest such box is cut first, so the first that meets no obstacle is
the heaviest of all; where the search is cut short, the best box met so far is kept.
"""

from __future__ import annotations

import heapq
import math
from itertools import count

import numpy as np
from numpy.typing import NDArray

from mechdesign.studies.classifiers.cells import Boxes
from mechdesign.studies.classifiers.concentration import Perturbation
from mechdesign.studies.classifiers.linear import LinearRegion
from mechdesign.values.declare import Floats, array, frozen

Box = tuple[Floats, Floats]

_FACES, _PAIRED_FACES = 1025, 65
_ROUNDS, _HALVINGS, _DEAREST = 24, 50, 1e18
_CUTS, _SIFTED = 2000, 1000


@frozen
class Weight:
    """What a box weighs: the chance of a report of ``x`` in it, or its volume."""

    x: Floats = array(np.asarray)
    law: Perturbation | None = None

    def shares(self, lower: Floats, upper: Floats) -> Floats:
        """The factor of every coordinate."""
        return upper - lower if self.law is None else self.law.between(self.x, lower, upper)

    def of(self, box: Box) -> float:
        return float(np.prod(self.shares(*box)))

    def of_sides(self, axis: int, lower: Floats, upper: Floats) -> Floats:
        """The factor of one coordinate, for many sides."""
        return upper - lower if self.law is None else self.law.between(self.x[axis], lower, upper)

    def up_to(self, places: Floats) -> Floats:
        """The factor of all below and at a place."""
        return places if self.law is None else self.law.cdf(places, self.x)

    def points(self, axis: int) -> Floats:
        """Where single reports have a chance."""
        atoms = None if self.law is None else self.law.atoms(float(self.x[axis]))
        return np.zeros(0) if atoms is None else atoms[0]


def heavier(weight: Weight, first: Box, second: Box) -> Box:
    return second if weight.of(second) > weight.of(first) else first


# -- linear models -----------------------------------------------------------------------------------------------------


def heaviest_linear(region: LinearRegion, weight: Weight, known: Box) -> Box:
    """The heaviest box that is found, and no lighter than the ``known`` one."""
    x = weight.x
    margins = region.weights @ x + region.bias - 2 * region.slack
    if not margins.size or (margins <= 0).any():
        return known
    down, up = (np.maximum(sign * region.weights, 0.0) / margins[:, None] for sign in (1, -1))
    sides = [_Sides.of(weight, axis, down[:, axis].max(), up[:, axis].max()) for axis in range(x.size)]
    prices = np.full(margins.size, 1 / margins.size)
    best = known
    for _ in range(_ROUNDS if margins.size > 1 else 1):
        lower, upper = _priced(sides, x, prices @ down, prices @ up)
        spent = down @ (x - lower) + up @ (upper - x)
        too_much = max(1.0, float(spent.max()))
        box = x - (x - lower) / too_much, x + (upper - x) / too_much
        for order in (range(x.size), range(x.size)[::-1]):
            found = _filled(x, box, down, up, order)
            if region.is_kept(*found):
                best = heavier(weight, best, found)
        prices = prices * np.exp(np.minimum(spent, 10.0) - 1)
        prices /= prices.sum()
    return best


@frozen
class _Sides:
    """The lower and upper faces a coordinate can take, and the log of its share for every pair of them."""

    lower: Floats = array(np.asarray)
    upper: Floats = array(np.asarray)
    logs: Floats = array(np.asarray)

    @classmethod
    def of(cls, weight: Weight, axis: int, down: float, up: float) -> _Sides:
        x = float(weight.x[axis])
        many = _PAIRED_FACES if down and up else _FACES
        points = weight.points(axis)
        lower, upper = _places(x, 0.0, down, many, points), _places(x, 1.0, up, many, points)
        shares = weight.of_sides(axis, lower[:, None], upper[None, :])
        return cls(lower, upper, np.log(np.maximum(shares, 1e-300)))


def _places(x: float, end: float, rate: float, many: int, points: Floats) -> Floats:
    """Faces from x to the end, or to where a margin is spent by this face alone."""
    if not rate:
        return np.array([end])
    last = x - min(x, 1 / rate) if end < x else x + min(end - x, 1 / rate)
    last = end if abs(x - end) <= 1 / rate else last
    low, high = min(x, last), max(x, last)
    return np.unique(np.concatenate([np.linspace(low, high, many), points[(points >= low) & (points <= high)]]))


def _priced(sides: list[_Sides], x: Floats, down: Floats, up: Floats) -> Box:
    """The heaviest choice of faces that spends at most 1, up to a step of the grid."""
    spends = [
        rate * (at - side.lower)[:, None] + other * (side.upper - at)[None, :]
        for side, at, rate, other in zip(sides, x, down, up, strict=True)
    ]

    def chosen(price: float) -> tuple[list[int], float]:
        picks = [int((side.logs - price * spend).argmax()) for side, spend in zip(sides, spends, strict=True)]
        return picks, sum(float(spend.flat[pick]) for spend, pick in zip(spends, picks, strict=True))

    low = high = 0.0
    picks, total = chosen(high)
    while total > 1 and high < _DEAREST:
        low, high = high, max(1.0, 4 * high)
        picks, total = chosen(high)
    for _ in range(_HALVINGS if low < high else 0):
        middle = (low + high) / 2
        tried, total = chosen(middle)
        if total > 1:
            low = middle
        else:
            picks, high = tried, middle
    where = [np.unravel_index(pick, side.logs.shape) for side, pick in zip(sides, picks, strict=True)]
    lower = [side.lower[at[0]] for side, at in zip(sides, where, strict=True)]
    upper = [side.upper[at[1]] for side, at in zip(sides, where, strict=True)]
    return np.array(lower), np.array(upper)


def _filled(x: Floats, box: Box, down: Floats, up: Floats, order: range) -> Box:
    """One face after the other moved out as far as the margins allow."""
    lower, upper = box[0].copy(), box[1].copy()
    for axis in order:
        for faces, rates, end in ((lower, down, 0.0), (upper, up, 1.0)):
            left = 1 - down @ (x - lower) - up @ (upper - x)
            used = rates[:, axis] > 0
            reach = float(np.min(left[used] / rates[used, axis], initial=math.inf))
            to_end = abs(faces[axis] - end)
            faces[axis] = end if reach >= to_end else faces[axis] + max(0.0, reach) * np.sign(end - faces[axis])
    return lower, upper


# -- trees -------------------------------------------------------------------------------------------------------------


@frozen
class Obstacles:
    """Cells ``(lower, upper]`` in which the label may be lost; x is in none of them."""

    x: Floats = array(np.asarray)
    lower: Floats = array(np.asarray)
    upper: Floats = array(np.asarray)

    @classmethod
    def of(cls, cells: Boxes, x: Floats) -> Obstacles | None:
        """Those that no other one hides from x; None where x itself is undecided."""
        lower = np.concatenate([cells.lost[0], cells.open[0]])
        upper = np.concatenate([cells.lost[1], cells.open[1]])
        inside = (lower < 1).all(axis=1) & (upper >= 0).all(axis=1)
        lower, upper = lower[inside], upper[inside]
        if ((lower < x) & (x <= upper)).all(axis=1).any():
            return None
        reach = np.maximum(x - upper, 0.0).sum(axis=1) + np.maximum(lower - x, 0.0).sum(axis=1)
        order = np.argsort(reach, kind="stable")
        lower, upper = lower[order], upper[order]
        needed = np.where(upper < x, -upper, -np.inf), np.where(lower >= x, lower, -np.inf)
        seen = _nearest(np.concatenate(needed, axis=1))
        return cls(x, lower[seen], upper[seen])

    def heaviest(self, weight: Weight, known: Box, most: int = _CUTS) -> Box:
        """The heaviest free box around x, if ``most`` cuts find it, and none lighter than the ``known`` one."""
        below = np.where(self.upper < self.x, weight.up_to(self.upper), np.nan)  # nan: no face there
        above = np.where(self.lower >= self.x, weight.up_to(self.lower), np.nan)
        root = np.zeros(self.x.size), np.ones(self.x.size)
        best, least = known, weight.of(known)
        turn, seen = count(), set[bytes]()
        heap = [(-weight.of(root), next(turn), root)]
        diving = True
        for _ in range(most):
            if not heap or -heap[0][0] <= least:
                break
            box = heapq.heappop(heap)[2]
            while True:  # the first time straight down to a free box: it decides early what need not be looked at
                children = self._cut(weight, box, below, above)
                if children is None:
                    if weight.of(box) > least:
                        best, least = box, weight.of(box)
                    break
                for child in children:
                    key = child[0].tobytes() + child[1].tobytes()
                    if weight.of(child) > least and key not in seen:
                        seen.add(key)
                        heapq.heappush(heap, (-weight.of(child), next(turn), child))
                if not diving or not children:
                    break
                box = max(children, key=weight.of)
            diving = False
        return best

    def _cut(self, weight: Weight, box: Box, below: Floats, above: Floats) -> list[Box] | None:
        """The parts of a box free of the obstacle that takes most from it; None where the box meets none."""
        met = np.flatnonzero(((self.lower < box[1]) & (box[0] <= self.upper)).all(axis=1))
        if not met.size:
            return None
        start, end = weight.up_to(np.nextafter(box[0], -np.inf)), weight.up_to(box[1])
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.concatenate([end - below[met], above[met] - start], axis=1) / np.tile(end - start, 2)
        left = np.where(np.isnan(left), -1.0, left)
        worst = int(met[left.max(axis=1).argmin()])
        children = []
        for axis in range(self.x.size):
            lower, upper = box[0].copy(), box[1].copy()
            if self.upper[worst, axis] < self.x[axis]:
                lower[axis] = np.nextafter(self.upper[worst, axis], np.inf)
                children.append((lower, box[1]))
            elif self.lower[worst, axis] >= self.x[axis]:
                upper[axis] = self.lower[worst, axis]
                children.append((box[0], upper))
        return children


def _nearest(needed: Floats) -> NDArray[np.intp]:
    """Rows without those that need at least what an earlier one needs: a box that meets such meets the earlier one."""
    left = np.arange(len(needed))
    kept: list[NDArray[np.intp]] = []
    while left.size and len(kept) < _SIFTED:
        kept.append(left[:1])
        left = left[(needed[left] < needed[left[0]]).any(axis=1)]
    return np.concatenate([*kept, left])
