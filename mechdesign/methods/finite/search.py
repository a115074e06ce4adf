"""The best epsilon-LDP mechanism for any loss matrix, with its proof.

**Problem.** Inputs are the rows and outputs the columns of a `Matrix`: categories, nodes of a tree, points of any
dimension (`mechdesign.words.finite_losses.euclidean`). Or both are numbers, such as the whole ones 18 to 90, so that
reports are data of the same kind, and the loss is the distance or its square. Minimised is the worst case over the
inputs, the average under a prior, or the average among the mechanisms whose worst case is next to the least there is.

**Program.** Cutting planes over the base measure, see `mechdesign.methods.finite.program`.

**Proof.** Levels and multipliers of the program, evaluated in rational arithmetic, see
`mechdesign.methods.finite.proof`. The bound holds for all epsilon-LDP mechanisms with the outputs of the matrix;
for the absolute error of numbers no other outputs are better.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import NoAnswer
from mechdesign.exact.matrix import matrix_bound
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.finite.program import Answer, Knapsacks, least_average, least_worst, lifts, lowered, snapped
from mechdesign.methods.finite.proof import FiniteBound, LexicographicBound, cap_above, worst_error
from mechdesign.methods.finite.supports import losses_of
from mechdesign.methods.method import Demands
from mechdesign.methods.private_table import fitting_base, private_table
from mechdesign.methods.result import Design, Report, saying_why, versions
from mechdesign.values.clock import Clock
from mechdesign.words.criteria import Average, Lexicographic
from mechdesign.words.domains import Finite
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_GAP = 1e-6  # unless another is demanded
_PROGRAM_SHARE = 0.5  # of the gap asked for
_NEGLIGIBLE = 1e-12
_MIXES = (0.0, 1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 1e-2, 1.0)
_LEAST_VALUE = 2.0**-6  # of losses scaled to make the optimum of order 1


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the time runs out first, with the design found until then.

    The mechanism is a table; its inputs and outputs are numbers of rows and columns of the loss matrix, or the numbers
    of the problem. Outputs that are never used are left out. Of a matrix a gap is met where bounds are apart by 1e-12
    of the largest loss, too.

    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(loss=1 - np.eye(3), privacy=Pure(1.0))
    >>> design = answer(problem, Demands())  # 0/1 loss: randomised response, 2 / (e + 2)
    >>> [round(end, 6) for end in (design.certificate.lower, design.certificate.upper)]
    [0.423883, 0.423883]
    """
    clock, gap = demands.clock(), demands.within(_GAP)
    search = _ScaledSearch(problem, gap, clock)
    is_plain = not isinstance(problem.criterion, Lexicographic)
    mechanism, evidence, found = search.plain() if is_plain else search.lexicographic()
    details: dict[str, Any] = {"outputs": len(mechanism.outputs), "rounds": found.rounds}
    if isinstance(evidence, LexicographicBound):
        details["worst case"] = [float_down(search.value(evidence.worst)), evidence.cap(problem)]
    report = Report(clock.used, "cutting planes (HiGHS)", versions("numpy", "scipy", "highspy"), details, gap)
    design = Design(problem, mechanism, evidence, report)
    lower, upper = design.certificate.lower, design.certificate.upper
    if upper - lower > max(gap * upper, problem.negligible):
        reason = found.stopped or f"the search ended at a relative gap of {(upper - lower) / upper:.2g}"
        design = saying_why(design, gap, reason)
        raise NoAnswer(reason, lower, upper, design=design)
    return design


class _ScaledSearch:
    """One problem, with losses scaled by powers of two, which loses no digit, until the optimum is of order 1."""

    def __init__(self, problem: Problem, gap: float, clock: Clock) -> None:
        self.problem, self.gap, self.clock = problem, gap, clock
        table = losses_of(problem)
        self.down, self.losses, self.outputs = table.down, table.up, table.outputs
        losses = self.losses
        weights = problem.weights if isinstance(problem.criterion, Average) else None
        single = (losses.max(axis=0) if weights is None else weights @ losses).min()
        self._scale(float(single) or float(losses.max()))

    def plain(self) -> tuple[Discrete, FiniteBound, Answer]:
        gap, prior = _PROGRAM_SHARE * self.gap, self.problem.weights
        answer, bound = self._in_scale(gap, prior)
        return self.table(answer.base), bound, answer

    def value(self, bound: FiniteBound, prior: Floats | None = None, cap: float | None = None) -> Fraction:
        """What levels and weights prove, exactly."""
        return matrix_bound(self.problem.epsilon, self.down, bound.levels, bound.weights, prior, cap)

    def lexicographic(self) -> tuple[Discrete, LexicographicBound, Answer]:
        problem, criterion = self.problem, self.problem.criterion
        assert isinstance(criterion, Lexicographic)
        prior = problem.weights
        assert prior is not None
        first, worst = self._in_scale(min(self.gap, criterion.slack) / 4, None)
        cap = cap_above(worst, problem)
        if first.stopped is not None or math.ldexp(first.value, self.exponent) > cap:
            reason = first.stopped or "the least worst case is not known well enough for its slack"
            raise NoAnswer(reason, *self._lexicographic_range(criterion, first, worst))
        gap, scaled_cap = _PROGRAM_SHARE * self.gap, math.ldexp(cap, -self.exponent)
        second = least_average(self.knapsacks, prior, gap, self.clock.deadline, scaled_cap, first.base)
        average = self.bound(second, prior, cap)
        evidence = LexicographicBound(average, worst)
        mechanism = self.capped_table(second.base, first.base, cap)
        if mechanism is None:
            reason = "no table found keeps its worst case below the cap"
            raise NoAnswer(reason, *self._lexicographic_range(criterion, first, worst, average))
        return mechanism, evidence, second

    def _lexicographic_range(
        self, criterion: Lexicographic, first: Answer, worst: FiniteBound, average: FiniteBound | None = None
    ) -> tuple[float, float]:
        """Bounds of the least average among mechanisms whose worst case is at most ``1 + slack`` times the least.

        The least worst case W is at most that of the table found, so these mechanisms exist and their averages are at
        most ``1 + slack`` times its worst case. From below any levels bound every average, and multipliers of the cap
        bound these, with the largest cap there can be.
        """
        losses, prior = self.losses, self.problem.weights
        cap = float_up(worst_error(self.table(first.base), self.problem) * (1 + Fraction(criterion.slack)))
        lower = max(self.value(FiniteBound(v, v * 0), prior) for v in (worst.levels, losses.min(axis=1)))
        if average is not None:
            lower = max(lower, self.value(average, prior, cap))
        return float_down(lower), min(cap, float(losses.max()))

    def _scale(self, size: float) -> None:
        self.exponent = math.frexp(size)[1] if size else 0
        self.knapsacks = Knapsacks(np.ldexp(self.losses, -self.exponent), self.problem.epsilon)

    def _in_scale(self, gap: float, prior: Floats | None) -> tuple[Answer, FiniteBound]:
        """The plain optimum and its bound, again in a finer scale if tolerances were too coarse for its size."""
        while True:
            if prior is None:
                answer = least_worst(self.knapsacks, gap, self.clock.deadline)
            else:
                answer = least_average(self.knapsacks, prior, gap, self.clock.deadline)
            bound = self.bound(answer, prior)
            value = math.ldexp(answer.value, self.exponent)
            is_small = 0 < answer.value < _LEAST_VALUE
            if not is_small or self.clock.is_over or value - self.value(bound, prior) <= 2 * gap * value:
                return answer, bound
            self._scale(value)

    def bound(self, answer: Answer, prior: Floats | None = None, cap: float | None = None) -> FiniteBound:
        """The answer's levels and multipliers, mended where the solver's errors leave G below 0."""
        losses = self.losses
        fixed = np.zeros(losses.shape[0]) if prior is None else prior
        is_average = prior is not None and cap is None
        if answer.levels is None:  # any levels prove something
            free = fixed * 0 + (prior is None)
            return FiniteBound(losses.min(axis=1), free)
        scaled_cap = 0.0 if cap is None else math.ldexp(cap, -self.exponent)
        pairs = []
        for levels in (answer.levels, snapped(self.knapsacks, answer.levels)):
            free = np.zeros_like(fixed) if is_average else answer.multipliers
            pairs.append((levels, free))
            if not is_average:
                pairs.append((levels, free + lifts(self.knapsacks, levels, fixed + free)))

        def proven(pair: tuple[Floats, Floats]) -> float:
            levels, free = pair
            weights = fixed + free
            least = min(0.0, float((weights @ self.knapsacks.entries(every, levels)).min()))
            value = float(weights @ levels) + least - float(free.sum()) * scaled_cap
            return value / float((free if prior is None else fixed).sum())

        every = np.arange(fixed.size)
        levels, free = max(pairs, key=proven)
        levels = np.ldexp(lowered(self.knapsacks, levels, fixed + free), self.exponent)
        return FiniteBound(levels, free)

    def capped_table(self, base: Floats, inner: Floats, cap: float) -> Discrete | None:
        """The table of a base measure, mixed with one inside the cap if rounding has left it a hair above."""
        for share in _MIXES:
            mechanism = self.table((1 - share) * base + share * inner)
            if worst_error(mechanism, self.problem) <= Fraction(cap):
                return mechanism
        return None

    def table(self, base: Floats) -> Discrete:
        kept = base > _NEGLIGIBLE * base.sum()
        fitted = fitting_base(np.where(kept, base, 0.0), self.problem.epsilon)
        laws = self.knapsacks.laws(fitted)
        outputs = Finite(tuple(self.outputs.points[k] for k in np.flatnonzero(kept).tolist()))
        return private_table(
            self.problem.epsilon, self.problem.numbers, outputs, laws[:, kept], fitted[kept], "finite optimum"
        )
