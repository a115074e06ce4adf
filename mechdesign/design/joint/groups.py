"""Exchangeable groups of any size: a linear program for each p, one scalar search over p, and boxes for averages.

**Program.** Variables ``w_t``; minimise ``sum t^2 w_t`` (for positive correlation its negative) subject to
``sum w_t = 1``, ``sum t w_t = g p`` and, for every cap ``P(T=1 | c known) <= u_c`` and number s of truthful partners,
``(1 - u_c) N1(c, s) <= u_c N0(c, s)``, likewise for ``P(T=0 | c known) <= v_c``.

**Search over p.** The optimum M(p) is convex, each dual solution a line below it; the variance with M replaced by the
largest of the lines is minimised in closed form (`mechdesign.design.joint.pair_bound`), the program solved there adds a
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
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction

import numpy as np
from mechdesign_solvers import Solution, Status
from numpy.typing import NDArray

from mechdesign.design.constants import rounded_up
from mechdesign.design.joint.pair_bound import Goal, Line, least_on_lines
from mechdesign.design.joint.rows import CappedProgram, Caps, Rows
from mechdesign.errors import CheckFailed, NoAnswer
from mechdesign.exact.rational import float_down

Floats = NDArray[np.float64]

LEAST_TRUTH = Fraction(1, 1000)
"""Laws are searched whose ``kp - 1`` is at least this share of independent responses': such independent ones have 10^6
times the variance."""

_SAME = 1e-12
_MOST_LINES = 400
_NOTHING = 1e-9


@dataclass(frozen=True, slots=True)
class Limits:
    """What every law must keep: ``true[c]`` and ``false[c]`` cap the probabilities of truth and lie with c partners
    known, and the sums of both, weighted with ``chances``, are at most ``mean_true`` and ``mean_false``."""

    true: tuple[Fraction, ...]
    false: tuple[Fraction, ...]
    chances: tuple[Fraction, ...]
    mean_true: Fraction
    mean_false: Fraction


@dataclass(frozen=True, slots=True)
class Found:
    """The best law as floats, the exact lower bound on the optimum, and how much work it was.

    ``is_independent`` says that no law was better than independent answers, which ``weights`` then are.
    """

    weights: Floats
    is_independent: bool
    lower: Fraction
    programs: int
    boxes: int


@dataclass(frozen=True, slots=True)
class _Box:
    """Caps (``true``, ``false``) and floors of what c known partners can give away."""

    true: tuple[Fraction, ...]
    true_floor: tuple[Fraction, ...]
    false: tuple[Fraction, ...]
    false_floor: tuple[Fraction, ...]


def search_groups(goal: Goal, outer: Limits, inner: Limits, gap: float, seconds: float) -> Found:
    """The group law of least variance; ``outer`` limits are rounded up, ``inner`` ones down.

    *Guarantee.* ``lower`` is below the variance of every law that meets the outer limits and `LEAST_TRUTH`. The law is
    feasible for the inner limits up to the rounding of floats. Without the time to close ``gap``, `NoAnswer` has
    bounds.
    """
    return _Search(goal, outer, inner, gap, time.perf_counter() + seconds).run()


@dataclass(slots=True)
class _Search:
    goal: Goal
    outer: Limits
    inner: Limits
    gap: float
    deadline: float
    best: float = math.inf
    weights: Floats | None = None
    is_independent: bool = False
    programs: int = 0
    rows: Rows = field(init=False)

    def __post_init__(self) -> None:
        self.rows = Rows(self.goal.group, self.goal.categories)

    def run(self) -> Found:
        size = self.goal.group
        low, zero = (Fraction(1, self.goal.categories),) * size, (Fraction(0),) * size
        order = itertools.count()
        root = _Box(self.outer.true, low, self.outer.false, zero)
        first = self._bound(root)
        assert first is not None
        bound, law = first
        if law is None:
            raise CheckFailed("the program of the whole search, which independent answers solve, was not solved")
        # first the independent answers, so that a solver's rounding of the same law does not take their place
        self._accept(self._independent())
        self.is_independent = True
        self._try(law)
        heap = [(float(bound), next(order), bound, root, law)]
        closed: list[Fraction] = []
        boxes = 1
        while heap:
            _, _, bound, box, law = heapq.heappop(heap)
            if self._is_close(bound):
                closed.append(bound)
                continue
            if self._is_late():
                raise self._no_answer(min([bound, *closed, *(entry[2] for entry in heap)]))
            self._try(law)
            if self._is_close(bound):
                closed.append(bound)
                continue
            for half in self._halves(box, law):
                boxes += 1
                answer = self._bound(half)
                if answer is None:
                    continue
                better, corner = max(answer[0], bound), answer[1]
                if corner is None:
                    closed.append(better)
                else:
                    heapq.heappush(heap, (float(better), next(order), better, half, corner))
        assert self.weights is not None
        return Found(self.weights, self.is_independent, min(closed), self.programs, boxes)

    def _is_late(self) -> bool:
        return time.perf_counter() > self.deadline

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

    def _bound(self, box: _Box) -> tuple[Fraction, Floats | None] | None:
        """An exact lower bound for all laws in the box and the relaxed law that attains it.

        None if it is proven that the box holds no law. Where a solver fails nothing is known: the bound is 0, no law.
        """
        most = min(box.true[0], self._most_truth(self.outer, box.true_floor))
        false = sum((h * f for h, f in zip(self.outer.chances[1:], box.false_floor[1:], strict=True)), Fraction(0))
        least = self._least_truth()
        if most < least or false > self.outer.mean_false:
            return None
        outer = self.outer
        caps = Caps(
            _afforded(box.true, box.true_floor, outer.chances, outer.mean_true),
            _afforded(box.false, box.false_floor, outer.chances, outer.mean_false),
        )
        program = self.rows.program(caps)
        ceiling = self._most_feasible(program, most)
        if ceiling is None:
            return Fraction(0), None
        if ceiling < least:
            return None
        lines, law = self._descend(program, least, ceiling)
        return (least_on_lines(self.goal, lines, least, ceiling)[0] if lines else Fraction(0)), law

    def _least_truth(self) -> Fraction:
        """p of `LEAST_TRUTH`."""
        k = self.goal.categories
        return (1 + LEAST_TRUTH * (k * self.outer.true[0] - 1)) / k

    @staticmethod
    def _most_truth(limits: Limits, floors: Sequence[Fraction]) -> Fraction:
        """The largest p with ``h_0 p + sum_c h_c max(floor_c, p) <= U``: the left side is piecewise linear in p."""
        known = sorted(zip(floors[1:], limits.chances[1:], strict=True))
        rate, rest = limits.chances[0], limits.mean_true - sum((f * h for f, h in known), Fraction(0))
        for floor, chance in known:
            if rate > 0 and rest / rate <= floor:
                return rest / rate
            rate, rest = rate + chance, rest + chance * floor
        return rest / rate

    def _descend(self, program: CappedProgram, least: Fraction, ceiling: Fraction) -> tuple[list[Line], Floats | None]:
        """Lines below M(p) until the least variance on them is attained, and the law that attains it."""
        goal, size = self.goal, self.goal.group
        sign = 1 if goal.helpful >= 0 else -1
        program.minimise([sign * t * t for t in range(size + 1)])
        lines: list[Line] = []
        place = float(ceiling)
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
            lines.append(program.line(solution))
            floats = [(float(a), float(b)) for a, b in lines]
            bound, place = least_on_lines(goal, floats, float(least), float(ceiling))
            if bound >= best[0] * (1 - _SAME) or bound >= self.best * (1 - self.gap / 4) or self._is_late():
                break
        return (lines, best[1]) if best is not None else ([], None)

    def _most_feasible(self, program: CappedProgram, most: Fraction) -> Fraction | None:
        """The largest p the caps allow, at most ``most``, not less than it is; None if the solver fails."""
        size = self.goal.group
        program.minimise([-t for t in range(size + 1)])
        solution = self._solve(program, None)
        if solution.status is not Status.OPTIMAL:
            return None
        return min(most, -program.least(solution) / size)

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
            if self._is_late():
                return
            true, false = self.rows.given_away(weights)
            caps = Caps(
                tuple(min(Fraction(a), b) for a, b in zip(true, self.inner.true, strict=True)), self.inner.false
            )
            if float(np.dot([float(h) for h in self.inner.chances], false)) > float(self.inner.mean_false):
                known = zip(false[1:], self.inner.false[1:], strict=True)
                caps = replace(caps, false=(self.inner.false[0], *(min(Fraction(a), b) for a, b in known)))
            before = self.best
            if self._keeps(weights):
                self._accept(weights)
            most = min(self._most_truth(self.inner, caps.true), self.inner.true[0])
            least = self._least_truth()
            if most <= least:
                return
            caps = replace(caps, true=(most, *caps.true[1:]))
            program = self.rows.program(caps)
            ceiling = self._most_feasible(program, most)
            law = None if ceiling is None or ceiling < least else self._descend(program, least, ceiling)[1]
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

    def _halves(self, box: _Box, weights: Floats) -> list[_Box]:
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
        # more known partners never give away less, so caps pass on downwards and floors upwards
        below = tuple(min(cap, middle) if j <= c else cap for j, cap in enumerate(caps))
        above = tuple(max(f, middle) if j >= c else f for j, f in enumerate(floors))
        if of_truth:
            return [replace(box, true=below), replace(box, true_floor=above)]
        return [replace(box, false=below), replace(box, false_floor=above)]


def _afforded(
    caps: Sequence[Fraction], floors: Sequence[Fraction], chances: Sequence[Fraction], budget: Fraction
) -> tuple[Fraction, ...]:
    """Caps that the average implies: c known partners tell no more than more of them, and no less than the floor."""
    result = list(caps)
    spent, rest = Fraction(0), Fraction(1)
    for c in range(len(caps)):
        if rest > 0:
            result[c] = min(result[c], (budget - spent) / rest)
        spent, rest = spent + chances[c] * floors[c], rest - chances[c]
    for c in range(len(caps) - 2, -1, -1):
        result[c] = min(result[c], result[c + 1])
    return tuple(result)
