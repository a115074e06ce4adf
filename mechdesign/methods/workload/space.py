"""Two or three queries of many types: cuts are found in the plane or space of the answers.

The program of the proof (`mechdesign.methods.workload.proof`), for answers W_x of type x: over X, nu and, for the worst
type, p,

    ``max 2 tr(WX) - sum(nu) - sum_x p_x |W_x|^2``,  ``sum_x z_x (p_x |y|^2 - 2 X_x.y + nu_x) >= 0`` for all y and z,

is linear once a cut is a pair of y, what a report says of the answers, and z in {1, c}^k. For one y the worst z is a
matter of signs, and for one z the worst y is a mean: to take them in turns finds the least places near many starts.
Where these say that the gap is closed the boxes of the proof (`mechdesign.exact.paraboloids`) say so, too, or where
not. The multipliers of the cuts are the weights of a channel whose worst type has no more noise than the program says.

Exchanging and mirroring queries may map types to types: what is then the same is one unknown, and every cut is as many.
New cuts are looked for halfway between the program's answer and the best until then, which wanders far less.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations, product

import numpy as np
from mechdesign_solvers import CuttingPlanes, LimitReached, LinearProgram, Rows as Lines
from numpy.typing import NDArray

from mechdesign.exact.paraboloids import Least, least_in_space
from mechdesign.methods.workload.columns import Told
from mechdesign.methods.workload.pricing import Bits
from mechdesign.values.clock import Clock
from mechdesign.values.declare import Floats, frozen

Places = NDArray[np.intp]

MOST_ORBITS = 24
"""Types that are not images of each other: with more the program takes too many cuts."""

_SAME = 1e-9  # of the answers: types that a mirror image falls on
_REACH = 1.6  # times the size of the answers, and of what randomised response multiplies them by
_STARTS = {2: 41, 3: 13}  # along an axis
_FIRST_SHARE = 0.3
_WIDE = 4.0  # times what responses of one query at a time need: beyond are no multipliers
_MOST_STARTS, _MOST_STEPS, _MOST_CUTS, _KEPT = 200, 60, 60, 400
_HALFWAY = 0.5
_CUTS_OFF = 1e-9  # ten times what the program may be off
_MOST_ROUNDS = 5000
_NEGLIGIBLE = 1e-9


@frozen
class Few:
    """Rows with weights ``sum_z w_z z = 1``, and the multipliers that prove them; the bounds are of the noise."""

    bits: Bits
    weights: Floats
    dual: Floats
    prices: Floats
    prior: Floats
    lower: float
    upper: float
    rounds: int


def has_few_orbits(answers: Floats, prior: Floats | None) -> bool:
    """Whether there are two or three queries, and few enough types that mirror images do not map to each other.

    >>> square = np.array(list(product((-1.0, 0.0, 1.0), repeat=2)))
    >>> has_few_orbits(square, None), has_few_orbits(square[:, :1], None)
    (True, False)
    """
    if answers.shape[1] not in _STARTS:
        return False
    middled, _, _ = _middled(answers)
    return len(np.unique(_Turns.of(middled, prior).images.min(axis=0))) <= MOST_ORBITS


def _middled(answers: Floats) -> tuple[Floats, Floats, float]:
    """Answers around 0 of a size of at most 1, what was taken off, and the unit."""
    middle = (answers.min(axis=0) + answers.max(axis=0)) / 2
    scale = float(abs(answers - middle).max())
    return (answers - middle) / scale, middle, scale


def few_queries(
    answers: Floats, ratio: float, prior: Floats | None, floor: float, gap: float, clock: Clock, say: Told
) -> Few | None:
    """Bounds within a relative gap, or the best when the time is up; None if no bound was proven until then.

    ``answers`` has one type a row and one query a column. Without a ``prior`` it is about the worst type, and every
    share is at least ``floor``.
    """
    middle = (answers.min(axis=0) + answers.max(axis=0)) / 2
    scale = float(abs(answers - middle).max())
    found = _Search((answers - middle) / scale, ratio, prior, floor, gap).run(
        clock, lambda a, b: say(*_up(scale, a, b))
    )
    if found is None:
        return None
    dual, prices = scale * found.dual, scale**2 * found.prices
    # from y to y + middle
    prices = prices + 2 * dual @ middle + found.prior * float(middle @ middle)
    dual = dual + found.prior[:, None] * middle
    lower, upper = _up(scale, found.lower, found.upper)
    return Few(found.bits, found.weights, dual, prices, found.prior, lower, upper, found.rounds)


def _up(scale: float, lower: float, upper: float) -> tuple[float, float]:
    return scale**2 * lower, scale**2 * upper


@frozen
class _Turns:
    """Exchanges and mirror images of the queries that map types to types: matrices, and where each type goes."""

    turns: Floats
    images: Places

    @classmethod
    def of(cls, answers: Floats, prior: Floats | None) -> _Turns:
        queries = answers.shape[1]
        weighed = answers if prior is None else np.column_stack([answers, prior])
        turns, images = [], []
        for order in permutations(range(queries)):
            for signs in product((1.0, -1.0), repeat=queries):
                turn = np.zeros((queries, queries))
                turn[range(queries), order] = signs
                moved = weighed.copy()
                moved[:, :queries] = answers @ turn.T
                image = _matched(moved, weighed)
                if image is not None:
                    turns.append(turn)
                    images.append(image)
        return cls(np.array(turns), np.array(images))


def _matched(moved: Floats, points: Floats) -> Places | None:
    """Which of the points each moved one is, different points for different ones; None if it is none of them."""
    one, other = (np.lexsort(np.rint(side / _SAME).T) for side in (moved, points))
    if not np.allclose(moved[one], points[other], rtol=0, atol=2 * _SAME):
        return None
    found = np.empty(len(points), dtype=np.intp)
    found[one] = other
    return found


@frozen
class _Multipliers:
    prior: Floats
    dual: Floats
    prices: Floats

    def terms(self, places: Floats) -> Floats:
        """``p_x |y|^2 - 2 X_x.y + nu_x`` at each place y."""
        heights = (places**2).sum(axis=1)[:, None]
        return np.asarray(heights * self.prior - 2 * places @ self.dual.T + self.prices)

    def bound(self, answers: Floats, wanting: float) -> float:
        """The noise that they prove if so much of the prior is wanting in the prices."""
        trace, total = float((self.dual * answers).sum()), float(self.prices.sum()) + wanting
        return (
            trace * trace / total - float(self.prior @ (answers**2).sum(axis=1)) if min(trace, total) > 0 else -math.inf
        )

    def paid(self, wanting: float) -> _Multipliers:
        return _Multipliers(self.prior, self.dual, self.prices + wanting * self.prior)


class _Search:
    """In units in which answers lie around 0 and have a size of at most 1."""

    def __init__(self, answers: Floats, ratio: float, prior: Floats | None, floor: float, gap: float) -> None:
        self.answers, self.ratio, self.gap = answers, ratio, gap
        self.size, self.rank = answers.shape
        self.group = _Turns.of(answers, prior)
        first = self.group.images.min(axis=0)
        self.own = np.unique(first)  # a type of each orbit
        self.orbit = np.searchsorted(self.own, first)
        self.sizes = np.bincount(self.orbit)
        self.images = self.group.images[:, self.own]
        self._directions()
        self.reach = _REACH * self.rank * (ratio + 1) / (ratio - 1)
        grid = np.linspace(-self.reach, self.reach, _STARTS[self.rank])
        self.starts = self._chamber(np.array(list(product(grid, repeat=self.rank))))
        self.cuts: list[tuple[Floats, Bits]] = []
        self.planes = CuttingPlanes(self._program(prior, floor))

    def _directions(self) -> None:
        """What X of an orbit's own type may be: what turns that keep the type keep, too."""
        found, of = [], []
        for k, own in enumerate(self.own):
            kept = self.group.turns[self.group.images[:, own] == own].mean(axis=0)
            _, sizes, rows = np.linalg.svd(kept)
            found.append(rows[sizes > 0.5])
            of += [k] * len(found[-1])
        self.along, self.of = np.concatenate(found), np.array(of, dtype=np.intp)

    def _chamber(self, places: Floats) -> Floats:
        """Of places that turns map to each other the last one."""
        if len(self.group.turns) == 1:
            return places
        turned = np.einsum("hij,nj->nhi", self.group.turns, places)
        weight = np.pi ** np.arange(self.rank)
        return np.asarray(places[places @ weight >= (turned @ weight).max(axis=1) - _SAME])

    def _program(self, prior: Floats | None, floor: float) -> LinearProgram:
        """Unknowns are p, X and nu summed over each orbit."""
        orbits, along = len(self.own), len(self.of)
        answers = self.answers[self.own]
        known = (answers**2).sum(axis=1)
        cost = np.concatenate([known, -2 * (answers[self.of] * self.along).sum(axis=1), np.ones(orbits)])
        most = _WIDE * (self.reach / _REACH) ** 2
        if prior is None:
            least_shares, most_shares = floor * self.sizes, np.ones(orbits)
        else:
            least_shares = most_shares = np.asarray(np.bincount(self.orbit, prior), dtype=np.float64)
        free = np.full(along + orbits, most)
        total = np.concatenate([np.ones(orbits), np.zeros(along + orbits)])[None, :]
        lower, upper = np.concatenate([least_shares, -free]), np.concatenate([most_shares, free])
        return LinearProgram.of(cost, total, 1.0, 1.0, lower, upper)

    def _spread(self, found: Floats) -> _Multipliers:
        """The unknowns of the program as multipliers of all types."""
        orbits, along = len(self.own), len(self.of)
        prior, dual, prices = np.split(found, [orbits, orbits + along])
        own = np.zeros((orbits, self.rank))
        np.add.at(own, self.of, (dual / self.sizes[self.of])[:, None] * self.along)
        every = np.empty((self.size, self.rank))
        every[self.images.ravel()] = np.einsum("hij,kj->hki", self.group.turns, own).reshape(-1, self.rank)
        return _Multipliers((prior / self.sizes)[self.orbit], every, (prices / self.sizes)[self.orbit])

    def _lines(self, places: Floats, bits: Bits) -> Floats:
        """Cuts in the unknowns of the program, averaged over all turns."""
        rows = (1 + (self.ratio - 1) * bits)[:, self.images]
        turned = np.einsum("hji,nj->nhi", self.group.turns, places)
        moments = np.einsum("nhk,nhi->nki", rows, turned) / len(self.group.turns)
        masses = rows.mean(axis=1)
        dual = -2 * np.einsum("nki,ki->nk", moments[:, self.of], self.along)
        return np.hstack([masses * (places**2).sum(axis=1)[:, None], dual, masses])

    def _add(self, places: Floats, bits: Bits, lines: Floats) -> None:
        self.cuts.append((places, bits))
        self.planes.add(Lines(lines, 0.0))

    def _lowest(self, asked: _Multipliers, places: Floats) -> tuple[Floats, Bits, Floats]:
        """Places that are least near some of these, with their signs and sums."""
        places = places[np.argsort(self._sums(asked.terms(places)), kind="stable")[:_MOST_STARTS]]
        bits = asked.terms(places) < 0
        for _ in range(_MOST_STEPS):
            rows = 1 + (self.ratio - 1) * bits
            places = (rows @ asked.dual) / (rows @ asked.prior)[:, None]
            before, bits = bits, asked.terms(places) < 0
            if np.array_equal(before, bits):
                break
        return places, bits, self._sums(asked.terms(places))

    def _sums(self, terms: Floats) -> Floats:
        return np.asarray(np.where(terms < 0, self.ratio * terms, terms).sum(axis=1))

    def run(self, clock: Clock, say: Told) -> Few | None:
        bits = self.starts @ self.answers.T > _FIRST_SHARE * (self.starts**2).sum(axis=1)[:, None]
        self._add(self.starts, bits, self._lines(self.starts, bits))
        best, highest, centre = None, -math.inf, None
        halfway = usual = _HALFWAY
        near, proven = np.empty((0, self.rank)), -math.inf
        rounds = 0
        while rounds < _MOST_ROUNDS:
            rounds += 1
            try:
                solution = self.planes.solve(clock.deadline)
            except LimitReached:
                break
            assert solution.primal is not None
            assert solution.row_duals is not None
            upper, unknowns = -float(self.planes.session.program.cost @ solution.primal), solution.primal
            weights = solution.row_duals[1:]
            place = unknowns if centre is None else halfway * unknowns + (1 - halfway) * centre
            asked = self._spread(place)
            places, bits, sums = self._lowest(asked, np.concatenate([self.starts, near]))
            wanting = max(0.0, -float(sums.min()))
            is_near = upper - asked.bound(self.answers, wanting) <= self.gap * upper
            if is_near and usual < 1:  # the prior of the program itself is that of its estimator
                halfway = usual = 1.0
                continue
            if is_near:
                paid = asked.paid(wanting)
                found = self._least(paid)
                value = paid.bound(self.answers, -found.level)
                if value > proven:
                    proven, best = value, paid
                if upper - proven <= self.gap * upper:
                    break
                if len(found.places):
                    places, bits, sums = self._lowest(asked, found.places)
                    wanting = max(0.0, -float(sums.min()))
            value = asked.bound(self.answers, wanting)
            if value > highest:
                highest, centre = value, place.copy()
                centre[-len(self.own) :] += wanting * centre[: len(self.own)]
            say(highest, upper)
            near = np.concatenate([near, places])[-_KEPT:]
            lines = self._lines(places, bits)
            _, different = np.unique(np.round(sums, 9), return_index=True)
            wrong = different[lines[different] @ unknowns < -_CUTS_OFF]
            wrong = wrong[np.argsort(sums[wrong], kind="stable")[:_MOST_CUTS]]
            if clock.is_over or (not len(wrong) and halfway == 1):
                break
            halfway = usual if len(wrong) else 1.0
            if len(wrong):
                self._add(places[wrong], bits[wrong], lines[wrong])
        if best is None:
            return None
        return self._answer(best, proven, upper, weights, rounds)

    def _least(self, asked: _Multipliers) -> Least:
        return least_in_space(asked.prior, asked.dual, asked.prices, np.ones(self.rank), Fraction(self.ratio))

    def _answer(self, best: _Multipliers, lower: float, upper: float, weights: Floats, rounds: int) -> Few:
        """Every cut with weight is as many rows as there are turns; cuts that no program was solved with have none."""
        bits = np.concatenate([bits for _, bits in self.cuts])[: len(weights)]
        used = weights > _NEGLIGIBLE * weights.sum()
        turns = len(self.group.turns)
        every = bits[used][:, np.argsort(self.group.images, axis=1)].reshape(-1, self.size)
        rows, which = np.unique(every, axis=0, return_inverse=True)
        summed = np.asarray(np.bincount(which.ravel(), np.repeat(weights[used] / turns, turns)), dtype=np.float64)
        return Few(rows, summed, best.dual, best.prices, best.prior, lower, upper, rounds)
