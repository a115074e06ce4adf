"""The unbiased mechanism with the least worst variance over *all* epsilon-LDP mechanisms, with its proof.

**Formulation.** For a base measure mu (``mu <= q(.|x) <= c mu``) the law of least variance with mean x fills a window
[a, b] (`mechdesign.mechanisms.unbiased_window`), and its variance is the largest, over all a and b, of

    ``(x - a)(b - x) + sum_y mu(y) phi((y - a)(y - b))``,  ``phi(t) = min(t, c t)``.

The worst variance over [-1, 1] is so the largest, over all a and b, of ``K(a, b) + sum_y mu(y) phi((y - a)(y - b))``, K
being the largest ``(x - a)(b - x)`` there: linear in mu. All of it is symmetric, and so is mu.

**Program.** Cutting planes over mu on given outputs: the worst inputs of the mechanism so far say which (a, b) come
next, and a law that does not reach the mean 1 which line. The multipliers are weights on inputs, the prior against
which no mechanism does better; where the sum ``G`` of their quadratics is least, new outputs pay.

**Proof.** The quadratics of the weights, those of one input as one, lowered until G is nowhere negative, or those of
the windows spread over the distance between outputs, where that proves more
(`mechdesign.methods.unbiased_worst.proof`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from mechdesign_solvers import CuttingPlanes, LimitReached, LinearProgram, Rows, Solution
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mechdesign.errors import NoAnswer
from mechdesign.exact.rational import float_down
from mechdesign.mechanisms.catalogue import SYMMETRIC, largest_safe_height
from mechdesign.mechanisms.fill import Fill
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.line import line_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.unbiased.search import fitted
from mechdesign.methods.unbiased_worst.proof import UnbiasedWorstBound
from mechdesign.methods.unbiased_worst.supports import supports
from mechdesign.values.clock import Clock
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_MANY, _USUAL_GAPS = 8.0, (1e-4, 1e-2)  # up to this eps and beyond: outputs crowd as eps grows
_REACH, _FIRST_OUTPUTS = 2.2, (45, 33)  # the reach times coth(eps / 2); a round has twice the outputs of the last
_MOST_ROUNDS, _MOST_TURNS, _MOST_CUTS = 12, 300, 200  # of a search, of a program, of a turn
_FIRST_GAP = 1e-2  # of the first program, relative as all gaps
_PROGRAM_SHARE, _AHEAD = 0.2, 0.03  # of the gap that is asked, and of that reached so far
_MARGIN = 0.85  # of the gap: the rest is for moving outputs onto other intervals
_WORTH_A_CUT = 0.1  # of the largest violation
_APART = 0.1  # times the distance over which G, of curvature up to c, rises by gap * optimum: closer outputs are one
_WIDE = 1.5  # times the usual distance between outputs: a place between two so far apart has two more beside it
_HALVINGS = 30
_PLACES = 4  # that a window is spread over
_SHORT = 1e-9  # how much of the mean 1 may be missing: outputs are stretched by it
_NEGLIGIBLE = 1e-12


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` with bounds if the rounds or the time run out first.

    >>> from mechdesign.words.classes import Unbiased
    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(inputs=SYMMETRIC, loss="squared", privacy=Pure(1.0), among=Unbiased())
    >>> design = answer(problem, Demands(gap=1e-3))
    >>> design.certificate.lower <= 3.9906 <= design.certificate.upper  # Duchi's mechanism has 4.683, HM 4.289
    True
    """
    inputs, clock = line_of(problem, supports).inputs, demands.clock()
    gap = demands.within(_USUAL_GAPS[problem.epsilon > _MANY])
    search = _Search(problem.epsilon, gap, clock, demands)
    with threadpool_limits(1, user_api="blas"):
        found = search.run()
    stopped = "the time limit was reached" if clock.is_over else "the search ended"
    if found is None:
        raise NoAnswer(stopped, 0.0, math.inf)
    mechanism, evidence = found
    if inputs != SYMMETRIC:
        mechanism = fitted(problem.epsilon, inputs, mechanism.points, mechanism.base)
    details = {"outputs": int(mechanism.points.size), "rounds": search.rounds}
    used = versions("numpy", "scipy", "highspy")
    report = Report(clock.used, "cutting planes (HiGHS)", used, details, gap)
    return within_gap(saying_why(Design(problem, mechanism, evidence, report), gap, stopped), gap, stopped)


@dataclass(frozen=True, slots=True, eq=False)
class _Cuts:
    """Windows [a, b] with ``a + b >= 0``, and thresholds of lines that ask for the mean 1."""

    starts: Floats
    stops: Floats
    thresholds: Floats

    @classmethod
    def of(cls, starts: Floats, stops: Floats, thresholds: Floats) -> _Cuts:
        is_left = starts + stops < 0
        return cls(np.where(is_left, -stops, starts), np.where(is_left, -starts, stops), thresholds)

    @property
    def inputs(self) -> Floats:
        """Where ``(x - a)(b - x)`` is largest."""
        return np.minimum((self.starts + self.stops) / 2, 1.0)

    @property
    def levels(self) -> Floats:
        return (self.inputs - self.starts) * (self.stops - self.inputs)

    def joined(self, other: _Cuts) -> _Cuts:
        return _Cuts(
            np.append(self.starts, other.starts),
            np.append(self.stops, other.stops),
            np.append(self.thresholds, other.thresholds),
        )

    def rows(self, outputs: Floats, ratio: float) -> Rows:
        """Of the value, and of the masses of the pairs of an output and its mirror image."""

        def phi(terms: Floats) -> Floats:
            return np.minimum(terms, ratio * terms)

        a, b, tau = (column[:, None] for column in (self.starts, self.stops, self.thresholds))
        windows = (phi((outputs - a) * (outputs - b)) + phi((outputs + a) * (outputs + b))) / 2
        lines = (phi(tau - outputs) + phi(tau + outputs)) / 2
        values = np.concatenate([np.ones(a.size), np.zeros(tau.size)])
        entries = np.column_stack([values, -np.concatenate([windows, lines])])
        return Rows(entries, np.concatenate([self.levels, 1 - self.thresholds]))

    def weighed(self, weights: Floats) -> tuple[_Cuts, _Quadratics]:
        """The cuts with weight, and their quadratics, those of one input as one; lines are about the input 1."""
        windows, lines = weights[: self.starts.size], weights[self.starts.size :]
        bent, straight = windows > _NEGLIGIBLE, lines > _NEGLIGIBLE
        kept = _Cuts(self.starts[bent], self.stops[bent], self.thresholds[straight])
        p, nu = windows[bent] / windows[bent].sum(), lines[straight] / windows[bent].sum()
        inputs, place = np.unique(np.append(kept.inputs, 1.0), return_inverse=True)
        where, last = place[:-1], inputs.size - 1

        def summed(values: Floats) -> Floats:
            return np.asarray(np.bincount(where, values, inputs.size), dtype=np.float64)

        slopes, levels = summed(p * (kept.starts + kept.stops - 2 * kept.inputs)), summed(p * kept.levels)
        slopes[last] += nu.sum()
        levels[last] += nu @ (1 - kept.thresholds)
        return kept, _Quadratics(inputs, summed(p), slopes, levels)

    def spread(self, weights: Floats, width: float) -> _Quadratics:
        """The quadratics with each window moved to several places over this width, as far as outputs are apart.

        Windows end at outputs, where G peaks, and it dips between: the average over their distance is nearly level.
        """
        windows, lines = weights[: self.starts.size], weights[self.starts.size :]
        bent = windows > _NEGLIGIBLE
        moves = width * ((np.arange(_PLACES) + 0.5) / _PLACES - 0.5)[:, None]
        starts, stops = ((moves + ends[bent]).ravel() for ends in (self.starts, self.stops))
        moved = _Cuts.of(starts, stops, self.thresholds)
        return moved.weighed(np.append(np.tile(windows[bent] / _PLACES, _PLACES), lines))[1]


@dataclass(frozen=True, slots=True, eq=False)
class _Quadratics:
    """``p (y - x)^2 - slope (y - x) - level`` for each input x, and its mirror image; the p sum to one."""

    inputs: Floats
    weights: Floats
    slopes: Floats
    levels: Floats

    def lowered(self, by: float) -> _Quadratics:
        """The same with less level, in proportion to the weights."""
        return _Quadratics(self.inputs, self.weights, self.slopes, self.levels - by * self.weights)

    def least(self, ratio: float) -> tuple[Floats, Floats]:
        """Places and values of the local minima of ``G`` in doubles."""
        x, p = self.inputs, self.weights
        near, far = self._roots()
        low, high = x + np.minimum(near, far), x + np.maximum(near, far)
        ends = np.concatenate([low, -high]), np.concatenate([high, -low])
        even, odd = np.stack([p, p * x**2 + self.slopes * x - self.levels]), -2 * p * x - self.slopes
        terms = np.stack([np.tile(even[0], 2), np.concatenate([odd, -odd]), np.tile(even[1], 2)])
        places = np.concatenate(ends)
        order = np.argsort(places, kind="stable")
        changes = (ratio - 1) * np.concatenate([terms, -terms], axis=1)[:, order]
        pieces = terms.sum(axis=1)[:, None] + np.concatenate([np.zeros((3, 1)), np.cumsum(changes, axis=1)], axis=1)
        edges = np.concatenate([[-math.inf], places[order], [math.inf]])
        vertices = -pieces[1] / (2 * pieces[0])
        inside = (vertices >= edges[:-1]) & (vertices <= edges[1:])
        y = vertices[inside]
        return y, (pieces[0, inside] * y + pieces[1, inside]) * y + pieces[2, inside]

    def _roots(self) -> tuple[Floats, Floats]:
        """Less x: that of least size and the other, infinite for a line; where there are none, the vertex twice."""
        far = self._far()
        with np.errstate(divide="ignore", invalid="ignore"):
            other = np.where(self.weights > 0, far / self.weights, math.copysign(math.inf, 1.0))
            near = np.where(far != 0, -self.levels / far, 0.0)
        has_none = self.slopes**2 + 4 * self.weights * self.levels <= 0
        return np.where(has_none, 0.0, near), np.where(has_none, 0.0, other)

    def _far(self) -> Floats:
        """p times the root of larger size: nothing cancels."""
        root = np.sqrt(np.maximum(self.slopes**2 + 4 * self.weights * self.levels, 0.0))
        return np.asarray((self.slopes + np.copysign(root, self.slopes)) / 2)

    def evidence(self, ratio: float) -> UnbiasedWorstBound:
        """The bound, lowered until G is nowhere negative: this costs less than its least value does."""
        low, high = 0.0, max(0.0, -float(self.least(ratio)[1].min()))
        for _ in range(_HALVINGS if high else 0):
            middle = (low + high) / 2
            if float(self.lowered(middle).least(ratio)[1].min()) < 0:
                low = middle
            else:
                high = middle
        found = self.lowered(high)
        far = found._far()
        offsets = np.divide(-found.levels, far, out=np.zeros_like(far), where=far != 0)
        return UnbiasedWorstBound(found.inputs, found.weights, offsets, -far)


class _Search:
    """The whole search on [-1, 1]: a program on given outputs, then on those that its multipliers ask for."""

    def __init__(self, epsilon: float, gap: float, clock: Clock, demands: Demands) -> None:
        self.epsilon, self.gap, self.clock, self.demands = epsilon, gap, clock, demands
        self.ratio = largest_safe_height(epsilon, 1.0)
        self.reach = _REACH / math.tanh(epsilon / 2)
        self.outputs = np.linspace(0.0, self.reach, _FIRST_OUTPUTS[epsilon > _MANY])
        none = np.zeros(0)
        self.cuts = _Cuts(np.array([-1.0, -self.reach / 2]), np.array([1.0, self.reach]), none)
        self.base, self.worst = (none, none), math.inf
        self.evidence: UnbiasedWorstBound | None = None
        self.lower, self.rounds = 0.0, 0

    def run(self) -> tuple[UnbiasedWindow, UnbiasedWorstBound] | None:
        """The best mechanism and the best bound, None if time was too short for any."""
        mechanism, program_gap = None, _FIRST_GAP
        while self.rounds < _MOST_ROUNDS:
            try:
                solution = self._solve(program_gap)
            except LimitReached:
                break
            self.rounds += 1
            self._learn(solution)
            if not math.isfinite(self.worst):
                break
            reached = (self.worst - self.lower) / self.worst
            self.demands.say(self.lower, self.worst)
            if reached <= _MARGIN * self.gap:
                break
            program_gap = min(program_gap, max(_PROGRAM_SHARE * self.gap, _AHEAD * reached))
        if math.isfinite(self.worst):
            mechanism = fitted(self.epsilon, SYMMETRIC, *self.base)
        return None if mechanism is None or self.evidence is None else (mechanism, self.evidence)

    def _solve(self, gap: float) -> Solution:
        """The program on the present outputs; cuts are found until its value is near the worst variance."""
        columns = self.outputs.size
        total = np.concatenate([[0.0], np.ones(columns)])[None, :]
        program = LinearProgram.of(np.eye(columns + 1)[0], total, 1 / self.ratio, 1.0, 0.0, math.inf)
        planes = CuttingPlanes(program)
        planes.add(self.cuts.rows(self.outputs, self.ratio))
        self.order = self.cuts.starts.size * [True] + self.cuts.thresholds.size * [False]
        for _ in range(_MOST_TURNS):
            solution = planes.solve(self.clock.deadline)
            assert solution.primal is not None
            found = self._violated(float(solution.primal[0]), np.maximum(solution.primal[1:], 0.0), gap)
            if found is None:
                break
            self.cuts = self.cuts.joined(found)
            self.order += found.starts.size * [True] + found.thresholds.size * [False]
            planes.add(found.rows(self.outputs, self.ratio))
        return solution

    def _violated(self, value: float, masses: Floats, gap: float) -> _Cuts | None:
        """The windows of the worst inputs of the mechanism with these masses, unless all are near the value."""
        path = _Path.of(*_mirrored(self.outputs, masses, self.ratio), self.ratio)
        worst = float(path.variances.max(initial=0.0))
        threshold = np.array([path.threshold] if path.reach < 1 - _SHORT else [])
        if not threshold.size and worst < self.worst:
            self.base, self.worst = (path.points, path.base), worst
        if not threshold.size and worst - value <= gap * worst:
            return None
        above = path.variances > value + _WORTH_A_CUT * max(worst - value, 0.0) + _SHORT * value
        chosen = np.flatnonzero(above)
        chosen = chosen[np.argsort(-path.variances[chosen])[:_MOST_CUTS]]
        return _Cuts.of(path.starts[chosen], path.stops[chosen], threshold)

    def _learn(self, solution: Solution) -> None:
        """The bound that the multipliers prove, the cuts that bind, and the outputs that they ask for."""
        assert solution.row_duals is not None
        weights, order = np.maximum(solution.row_duals[1:], 0.0), np.array(self.order)
        weights = np.concatenate([weights[order], weights[~order]])
        width = float(np.median(np.diff(self.outputs)))
        spread = self.cuts.spread(weights, width)
        self.cuts, quadratics = self.cuts.weighed(weights)
        for one in (quadratics, spread):
            evidence = one.evidence(self.ratio)
            lower = float_down(evidence.value(self.epsilon))
            if self.evidence is None or lower > self.lower:
                self.evidence, self.lower = evidence, max(lower, 0.0)
        places, levels = quadratics.least(self.ratio)
        scale = self.gap * min(self.worst, _FIRST_GAP**-1)
        apart = _APART * math.sqrt(scale / self.ratio)
        wanted = np.abs(places[levels < scale])
        edges = np.concatenate([-self.outputs[:1], self.outputs, [math.inf]])
        after = np.searchsorted(edges[:-1], wanted)
        lonely = wanted[edges[after] - edges[np.maximum(after - 1, 0)] > _WIDE * width]
        wanted = np.unique(np.abs(np.concatenate([wanted, lonely - width / 2, lonely + width / 2])))
        wanted = wanted[np.diff(wanted, prepend=-math.inf) > apart]  # a place and its mirror image differ by rounding
        around = np.concatenate([[-math.inf], wanted, [math.inf]])
        after = np.searchsorted(wanted, self.outputs)
        kept = (self.outputs - around[after] > apart) & (around[after + 1] - self.outputs > apart)
        self.outputs = np.unique(np.concatenate([wanted, self.outputs[kept]]))


def _mirrored(outputs: Floats, masses: Floats, ratio: float) -> tuple[Floats, Floats]:
    """Outputs and a base measure from masses of pairs: slivers dropped, the total put in range."""
    kept = masses > _NEGLIGIBLE * masses.sum()
    places, own = outputs[kept], masses[kept]
    pairs = places > 0
    points = np.concatenate([-places[pairs][::-1], places])
    base = np.concatenate([own[pairs][::-1] / 2, np.where(pairs, own / 2, own)])
    total = float(base.sum())
    return points, base * (min(max(total, (1 + _NEGLIGIBLE) / ratio), 1 - _NEGLIGIBLE) / total)


@dataclass(frozen=True, slots=True, eq=False)
class _Path:
    """The worst inputs of the mechanism with a base measure, as its window moves: all windows with a variance that is
    locally largest, for non-negative inputs; how far its means reach, and where the window starts there."""

    points: Floats
    base: Floats
    reach: float
    threshold: float
    starts: Floats
    stops: Floats
    variances: Floats

    @classmethod
    def of(cls, points: Floats, base: Floats, ratio: float) -> _Path:
        fill = Fill.over(points, base, ratio)
        turns = np.concatenate([fill.cumulative, fill.cumulative - fill.length, [0.0, fill.last]])
        turns = np.unique(np.clip(turns, 0.0, max(fill.last, 0.0)))
        first, second = (_sums(fill, turns, points**order) for order in (1, 2))
        middles = (turns[:-1] + turns[1:]) / 2
        a, b = points[_place(fill, middles)], points[_place(fill, middles + fill.length)]
        low, high = first[:-1], first[1:]
        x = np.clip((a + b) / 2, np.maximum(low, 0.0), np.minimum(high, 1.0))
        variances = second[:-1] + (a + b) * (x - low) - x * x
        met = (high > low) & (high >= 0) & (low <= 1)
        threshold = float(points[_place(fill, np.array([fill.last]))[0]])
        return cls(points, base, float(first[-1]), threshold, a[met], b[met], variances[met])


def _place(fill: Fill, along: Floats) -> NDArray[np.intp]:
    """The output that is reached so far along the cumulative base."""
    return np.clip(np.searchsorted(fill.cumulative, along, side="right") - 1, 0, fill.points.size - 1)


def _sums(fill: Fill, turns: Floats, values: Floats) -> Floats:
    """``sum of values`` under the laws whose windows start at these places."""
    sums = np.concatenate([[0.0], np.cumsum(fill.base * values)])
    inside = np.interp(turns + fill.length, fill.cumulative, sums) - np.interp(turns, fill.cumulative, sums)
    return np.asarray(sums[-1] + (fill.ratio - 1) * inside)
