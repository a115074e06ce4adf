"""Exchangeable groups of any size: a linear program for each p, one scalar search over p, and boxes for averages.

**Program.** Variables ``w_t``; minimise ``sum t^2 w_t`` (for positive correlation its negative) subject to
``sum w_t = 1``, ``sum t w_t = g p`` and, for every cap ``P(T=1 | c known) <= u_c`` and number s of truthful partners,
``(1 - u_c) N1(c, s) <= u_c N0(c, s)``, likewise for ``P(T=0 | c known) <= v_c``.

**Search over p.** The optimum M(p) is convex, each dual solution a line below it; the variance with M replaced by the
largest of the lines is minimised in closed form (`mechdesign.exact.joint_variance`), the program solved there adds a
line, and so on until value and bound meet.

**Average over colluders.** Theorem 3's analogue ``h_0 p + sum_c h_c u_c <= U`` sums what the worst answers of c
partners give away, a ratio of the variables for each c. The ``u_c`` are therefore split into boxes: inside ``[l, u]``
the caps ``u`` and ``h_0 p + sum_c h_c max(l_c, p) <= U`` hold for every law in the box, which bounds it from below;
capping at what a law really gives away yields laws that are feasible, hence upper bounds.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from mechdesign_solvers import Solution, Status
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.exact.joint_limits import Box, Caps, Limits, Split
from mechdesign.exact.joint_variance import Goal, Line, least_on_lines, upper_envelope
from mechdesign.exact.rational import float_down
from mechdesign.methods.joint.proof import DualBound, Duals, Leaf, largest_mean, second_moment
from mechdesign.methods.joint.rows import CappedProgram, Rows
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.values.digits import rounded_up

Floats = NDArray[np.float64]

_SAME = 1e-12
_MOST_LINES = 400
_NOTHING = 1e-9
_NO_DUALS = Duals(0.0)


@frozen
class Found:
    """The best law as floats, what proves that hardly any is better, and how much work it was.

    ``is_independent`` says that no law was better than independent answers, which ``weights`` then are.
    """

    weights: Floats
    is_independent: bool
    evidence: DualBound
    programs: int
    boxes: int


@dataclass(slots=True)
class _Node:
    """A box of the search: what bounds it, and into what it was split.

    ``bound`` is the largest that was proven of it and of the boxes it is in; None if it holds no law.
    """

    box: Box
    largest: Duals = _NO_DUALS
    lines: tuple[tuple[Duals, Line], ...] = ()
    ends: tuple[Fraction, Fraction] = (Fraction(0), Fraction(1))
    law: Floats | None = None
    bound: Fraction | None = None
    split: Split | None = None
    halves: tuple[_Node, ...] = ()

    def leaf(self) -> Leaf:
        """The evidence of its own bound: of the lines those that are anywhere the largest."""
        if not self.lines:
            return Leaf(self.largest)
        size = self.box.size
        stretches = upper_envelope([line for _, line in self.lines], size * self.ends[0], size * self.ends[1])
        needed = {line: duals for duals, line in self.lines}
        return Leaf(self.largest, tuple(needed[line] for line, _, _ in stretches))


def search_groups(goal: Goal, outer: Limits, inner: Limits, gap: float, clock: Clock) -> Found:
    """The group law of least variance; ``outer`` limits are rounded up, ``inner`` ones down.

    *Guarantee.* The evidence bounds the variance of every law that meets the outer limits and `LEAST_TRUTH`. The law is
    feasible for the inner limits up to the rounding of floats. Without the time to close ``gap``, `NoAnswer` has
    bounds.
    """
    return _BoxSearch(goal, outer, inner, gap, clock).run()


@dataclass(slots=True)
class _BoxSearch:
    """Branch and bound over boxes of what known partners give away, the least bound first."""

    goal: Goal
    outer: Limits
    inner: Limits
    gap: float
    clock: Clock
    best: float = math.inf
    weights: Floats | None = None
    is_independent: bool = False
    programs: int = 0
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = Rows(self.goal.group, self.goal.categories)

    def run(self) -> Found:
        order = itertools.count()
        root = self._bounded(Box.of_all(self.outer, self.goal), Fraction(0))
        if root.law is None:
            raise CheckFailed("the program of the whole search, which independent answers solve, was not solved")
        # first the independent answers, so that a solver's rounding of the same law does not take their place
        self._accept(self._independent())
        self.is_independent = True
        self._try(root.law)
        heap = [_entry(root, order)]
        closed: list[Fraction] = []
        boxes = 1
        while heap:
            _, _, bound, node = heapq.heappop(heap)
            if self._is_close(bound):
                closed.append(bound)
                continue
            if self.clock.is_over:
                raise self._no_answer(min([bound, *closed, *(entry[2] for entry in heap)]))
            assert node.law is not None
            self._try(node.law)
            if self._is_close(bound):
                closed.append(bound)
                continue
            node.split = self._split(node.box, node.law)
            node.halves = tuple(self._bounded(half, bound) for half in node.box.halves(node.split))
            boxes += 2
            for half in node.halves:
                if half.bound is None:
                    continue
                if half.law is None:
                    closed.append(half.bound)
                else:
                    heapq.heappush(heap, _entry(half, order))
        assert self.weights is not None
        evidence = DualBound(_parts(root, min(closed)))
        return Found(self.weights, self.is_independent, evidence, self.programs, boxes)

    def _no_answer(self, bound: Fraction) -> NoAnswer:
        """What is proven when the time is up, and the gap at which the same search has an answer."""
        lower = max(0.0, float_down(bound))
        reached = (self.best - lower) / self.best if self.best > 0 else 1.0
        asked = rounded_up(reached, 2)
        step = f"--gap {asked} has an answer by then" if float(asked) < 1 else "it needs more time"
        return NoAnswer(f"the search over groups of {self.goal.group} ran out of time; {step}", lower, self.best)

    def _is_close(self, bound: Fraction) -> bool:
        """Whether no law of a box is better than the best by more than the gap, or by anything that matters."""
        nothing = _NOTHING * float(self.goal.spread(self.outer.true[0]))
        return float(bound) >= min(self.best * (1 - self.gap), self.best - nothing)

    # -- one box -------------------------------------------------------------------------------------------------------

    def _bounded(self, box: Box, known: Fraction) -> _Node:
        """The box with an exact lower bound for its laws, at least ``known``, and the relaxed law that attains it.

        Where a solver fails nothing more is known, and there is no law.
        """
        node = _Node(box)
        ends = box.ends(self.outer, self.goal.categories)
        if ends is None:
            return node
        caps = box.caps(self.outer)
        program = self.rows.program(caps)
        largest = self._largest(program)
        if largest is None:
            node.bound = known
            return node
        node.largest = largest
        node.ends = least, most = ends[0], min(ends[1], largest_mean(largest, self.goal.group, caps))
        if most < least:
            return node
        node.lines, node.law = self._descend(program, caps, least, most)
        lines = [line for _, line in node.lines]
        node.bound = max(known, least_on_lines(self.goal, lines, least, most)[0] if lines else Fraction(0))
        return node

    def _descend(
        self, program: CappedProgram, caps: Caps, least: Fraction, most: Fraction
    ) -> tuple[tuple[tuple[Duals, Line], ...], Floats | None]:
        """Lines below M(p) until the least variance on them is attained, and the law that attains it."""
        goal, size, costs = self.goal, self.goal.group, second_moment(self.goal)
        program.minimise(costs)
        lines: list[tuple[Duals, Line]] = []
        place = float(most)
        best: tuple[float, Floats] | None = None
        for _ in range(_MOST_LINES):
            solution = self._solve(program, size * place)
            if solution.status is not Status.OPTIMAL:
                # the very end of the range can be infeasible by a rounding
                solution = self._solve(program, size * (place - 1e-9 * (place - float(least))))
                if solution.status is not Status.OPTIMAL:
                    break
            assert solution.primal is not None
            weights = solution.primal / solution.primal.sum()
            value = self._value(weights)
            if best is None or value < best[0]:
                best = value, weights
            duals = program.duals(solution)
            lines.append((duals, duals.line(costs, caps)))
            floats = [(float(a), float(b)) for _, (a, b) in lines]
            bound, place = least_on_lines(goal, floats, float(least), float(most))
            if bound >= best[0] * (1 - _SAME) or bound >= self.best * (1 - self.gap / 4) or self.clock.is_over:
                break
        return (tuple(lines), best[1]) if best is not None else ((), None)

    def _largest(self, program: CappedProgram) -> Duals | None:
        """Multipliers that bound the p which the caps allow; None if the solver fails."""
        program.minimise([-t for t in range(self.goal.group + 1)])
        solution = self._solve(program, None)
        return None if solution.status is not Status.OPTIMAL else evolved(program.duals(solution), slope=0.0)

    def _solve(self, program: CappedProgram, total: float | None) -> Solution:
        self.programs += 1
        return program.solve(total)

    def _value(self, weights: Floats) -> float:
        """The variance of a float law for the goal."""
        size = self.goal.group
        t = np.arange(size + 1)
        p = float(t @ weights) / size
        covariance = float(t * (t - 1) @ weights) / (size * (size - 1)) - p * p
        goal = self.goal
        q = (1 - p) / (goal.categories - 1)
        own = float(goal.own)
        spread = own * p * (1 - p) + (goal.users - own) * q * (1 - q)
        extra = max(float(goal.low) * covariance, float(goal.high) * covariance)
        return (spread + extra) / (p - q) ** 2 if p > q else math.inf

    # -- feasible laws -------------------------------------------------------------------------------------------------

    def _try(self, weights: Floats) -> None:
        """Make a feasible law of a relaxed one: cap everything at what it gives away, and lower p to afford that."""
        for _ in range(6):
            if self.clock.is_over:
                return
            true, false = self.rows.given_away(weights)
            caps = Caps(
                tuple(min(Fraction(a), b) for a, b in zip(true, self.inner.true, strict=True)), self.inner.false
            )
            if float(np.dot([float(h) for h in self.inner.chances], false)) > float(self.inner.mean_false):
                known = zip(false[1:], self.inner.false[1:], strict=True)
                caps = evolved(caps, false=(self.inner.false[0], *(min(Fraction(a), b) for a, b in known)))
            before = self.best
            if self._keeps(weights):
                self._accept(weights)
            most = min(self.inner.most_truth(caps.true), self.inner.true[0])
            least = self.outer.least_truth(self.goal.categories)
            if most <= least:
                return
            caps = evolved(caps, true=(most, *caps.true[1:]))
            program = self.rows.program(caps)
            largest = self._largest(program)
            if largest is None:
                return
            ceiling = min(most, largest_mean(largest, self.goal.group, caps))
            law = None if ceiling < least else self._descend(program, caps, least, ceiling)[1]
            if law is None:
                return
            if self._keeps(law):
                self._accept(law)
            if self.best > before * (1 - self.gap / 8):
                return
            weights = law

    def _independent(self) -> Floats:
        """Randomised response with the largest p: it gives away p, whoever is known."""
        size, p = self.goal.group, float(self.inner.true[0])
        return np.array([math.comb(size, t) * p**t * (1 - p) ** (size - t) for t in range(size + 1)])

    def _accept(self, weights: Floats) -> None:
        value = self._value(weights)
        if value < self.best * (1 - _SAME):
            self.best, self.weights, self.is_independent = value, weights, False

    def _keeps(self, weights: Floats) -> bool:
        """Whether a float law keeps the inner limits up to rounding."""
        true, false = self.rows.given_away(weights)
        inner, slack = self.inner, 1e-11
        sums = [float(np.dot([float(h) for h in inner.chances], side)) for side in (true, false)]
        return (
            all(a <= float(b) + slack for a, b in zip(true, inner.true, strict=True))
            and all(a <= float(b) + slack for a, b in zip(false, inner.false, strict=True))
            and sums[0] <= float(inner.mean_true) + slack
            and sums[1] <= float(inner.mean_false) + slack
        )

    # -- splitting -----------------------------------------------------------------------------------------------------

    def _split(self, box: Box, weights: Floats) -> Split:
        """Split what hides most: the loss whose floor is furthest, by its chance, below what the relaxed law tells."""
        true, false = self.rows.given_away(weights)
        p = true[0]
        chances = [float(h) for h in self.outer.chances]
        hidden = [
            (chances[c] * (true[c] - max(float(box.true_floor[c]), p)), c, True) for c in range(1, self.goal.group)
        ]
        if float(np.dot(chances, false)) > float(self.outer.mean_false):
            hidden += [
                (chances[c] * (false[c] - float(box.false_floor[c])), c, False) for c in range(1, self.goal.group)
            ]
        _, c, of_truth = max(hidden)
        seen, caps, floors = (true, box.true, box.true_floor) if of_truth else (false, box.false, box.false_floor)
        floor = max(floors[c], Fraction(p)) if of_truth else floors[c]
        middle = Fraction((seen[c] + float(floor)) / 2).limit_denominator(10**9)
        if not floors[c] < middle < caps[c]:
            middle = (floors[c] + caps[c]) / 2
        return Split(c, of_truth, middle)


def _parts(root: _Node, least: Fraction) -> tuple[Split | Leaf, ...]:
    """The evidence that no law is below ``least``: of each branch no more than is needed for that.

    The first box of a branch whose bound reaches ``least`` owes that bound to its own lines.
    """
    parts: list[Split | Leaf] = []
    nodes = [root]
    while nodes:
        node = nodes.pop()
        if node.split is None or (node.bound is not None and node.bound >= least):
            parts.append(node.leaf())
        else:
            parts.append(node.split)
            nodes += reversed(node.halves)
    return tuple(parts)


def _entry(node: _Node, order: Iterator[int]) -> tuple[float, int, Fraction, _Node]:
    """A place in the heap: the least bound first, of equal ones the oldest."""
    assert node.bound is not None
    return float(node.bound), next(order), node.bound, node
