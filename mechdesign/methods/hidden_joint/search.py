"""The joint response of least variance among all that treat users alike, private against everybody else together.

**Formulation.** Minimise ``Var = E h / (E d)^2 - offset`` (`Objective`) over laws of the number of liars K with

    P(K=l) (n-l) <= e^eps P(K=l+1) (l+1) / c   and   P(K=l+1) (l+1) / c <= e^eps P(K=l) (n-l)    (c = categories - 1).

**The optimum** is a law with one peak (`mechdesign.methods.hidden_joint.proof`), so what is left is a whole number:
where the peak is. The lines that prove it start at that peak and go to both sides until they reach the largest d and
Jensen's inequality.

**With a delta** the laws have no such shape: a linear program for each slope.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from mechdesign.errors import InvalidInput, NoAnswer, require_whole
from mechdesign.exact.peaked import peaked
from mechdesign.exact.privacy import HiddenProof
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.hidden import HiddenResponse, PeakedResponse
from mechdesign.mechanisms.joint import alignment
from mechdesign.methods.evidence import Evidence
from mechdesign.methods.hidden_joint.crowd import Crowd, crowd_of
from mechdesign.methods.hidden_joint.proof import IndependentBest, PeakLines, mean_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions, within_gap
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.counts import Count, Moments
from mechdesign.words.priors import Density
from mechdesign.words.problem import Problem

_GAP, _DELTA_GAP = 1e-6, 1e-4
"""Unless another is demanded, and the least that is closed with a delta: solvers have doubles."""

_SECONDS = 120.0
"""A search has so long if nothing else is demanded."""

GRID = 96
"""Ratios of shipped laws are whole multiples of ``2^-96``."""

_INSIDE = Fraction(1, 1 << 20)
"""How far inside their ends slopes are taken, as a share of what a peak allows."""

_DIGITS = 160
"""Binary places of slopes: at a large eps a variance hangs on the last places of a double."""

_ENDLESS = Fraction(10) ** 40

_REACH = 8
"""In standard deviations of independent answers: peaks that far below their mean are as good as independent ones."""


def answer(problem: Problem, demands: Demands) -> Design:
    """The law of least variance and the proof that no other that treats users alike does better.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.privacy import Hidden
    >>> problem = Problem(loss=Count(0.033), privacy=Hidden(1.0, users=1000), among=Together())
    >>> design = answer(problem, Demands())
    >>> design.mechanism.peak, round(design.certificate.upper, 4), round(design.certificate.lower, 3)
    (308, 298.4158, 298.416)
    >>> design.certificate.account.loss  # whoever colludes
    1.0
    """
    crowd, clock = crowd_of(problem), Clock(_SECONDS if demands.seconds is None else demands.seconds)
    gap = max(demands.within(_GAP), _DELTA_GAP if crowd.delta else 0.0)
    search = _Peaks(crowd, gap, clock)
    best = _best(crowd, search)
    evidence: Evidence = IndependentBest()
    law: HiddenResponse = best
    solver, details = "closed form", dict[str, Any]()
    if crowd.delta:
        from mechdesign.methods.hidden_joint.program import search_delta

        law, evidence, programs = search_delta(crowd, best, gap, clock)
        solver, details = "HiGHS", {"programs": programs}
    elif crowd.alignment > 0:
        evidence = lines = search.lines(best.peak)
        solver, details = "peaks", {"peak": best.peak, "lines": len(lines.peaks)}
    if isinstance(crowd.share, Density):
        details |= {"prior": crowd.share.name}
        problem = evolved(problem, loss=Count(Moments.of(crowd.share)))
    report = Report(clock.used, solver, versions("numpy", "scipy", "highspy"), details | {"count": crowd.count}, gap)
    return within_gap(Design(problem, law, evidence, report), gap, "the search ended")


def best_peaked(crowd: Crowd) -> PeakedResponse:
    """The law that `answer` finds where there is no delta, without the proof that none is better.

    >>> best_peaked(Crowd(1.0, users=1000, share=0.033)).peak
    308
    """
    return _best(crowd, _Peaks(crowd, _GAP, Clock()))


def _best(crowd: Crowd, search: _Peaks) -> PeakedResponse:
    peak = search.best() if crowd.alignment > 0 else 0
    return PeakedResponse(crowd.users, peak, ship_ratio(crowd), crowd.answers)


def ship_ratio(problem: Crowd) -> Fraction:
    """The largest ratio on the grid that keeps the budget."""
    return Fraction(math.floor(problem.ratio(up=False) * (1 << GRID)), 1 << GRID)


def parts(design: Design) -> tuple[Crowd, HiddenResponse, HiddenProof]:
    """What was asked in numbers, law and account of a design of hidden answers."""
    law, account = design.mechanism, design.certificate.account
    if not (isinstance(law, HiddenResponse) and isinstance(account, HiddenProof)):
        raise InvalidInput("design", type(law).__name__, "be a hidden joint response", "design one with jrr --hidden")
    return crowd_of(design.problem), law, account


def ratio(design: Design) -> float:
    """The variance as a share of independent responses' at the same epsilon.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.privacy import Hidden
    >>> problem = Problem(loss=Count(0.033), privacy=Hidden(1.0, users=1000), among=Together())
    >>> round(ratio(answer(problem, Demands())), 4)
    0.3241
    """
    return design.certificate.upper / parts(design)[0].independent_variance


# -- no-shows ----------------------------------------------------------------------------------------------------------


@frozen
class Shown:
    """What is left of a collection in which only ``users`` of all users reported, ``count`` of them of the category.

    Who stays away does so for reasons of one's own, not for what one's bit was. Then p and the covariance of any two
    are what they were: the estimate ``(I - n' q) / (p - q)`` of the count among those who reported has no bias.
    ``variance`` is its own, ``variance_of_all`` what it would have been had nobody stayed away. ``epsilon`` is what the
    others could learn together: not more than before, as they know fewer reports.
    """

    users: int
    variance: float
    variance_of_all: float
    epsilon: float


def without(design: Design, no_shows: int) -> Shown:
    """What ``no_shows`` users who never report cost: the variance grows, as some errors no longer cancel.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.privacy import Hidden
    >>> problem = Problem(loss=Count(0.03), privacy=Hidden(1.0, users=1000), among=Together())
    >>> found = without(answer(problem, Demands()), 100)
    >>> found.users, found.variance > found.variance_of_all, found.epsilon <= 1
    (900, True, True)
    """
    problem, law, account = parts(design)
    gone = require_whole(no_shows, "no-shows", 0, problem.users - 2)
    if problem.count is None or problem.encoding == "hashing":
        raise InvalidInput("share", problem.share, "be a number, and reports categories, to say what no-shows cost")
    left = problem.users - gone
    own = Fraction(problem.count * left, problem.users)
    k = problem.answers
    pairs = alignment(left, own, left, k)
    lie = mean_of(law, (Fraction(0), Fraction(1, law.users), Fraction(0)))
    both = mean_of(
        law,
        (
            Fraction(1),
            -Fraction(2 * law.users - 1, law.users * (law.users - 1)),
            Fraction(1, law.users * (law.users - 1)),
        ),
    )
    covariance = both[0] - (1 - lie[0]) ** 2, both[1] - (1 - lie[1]) ** 2
    truth = 1 - lie[1]
    wrong = (1 - truth) / (k - 1)
    spread = own * truth * (1 - truth) + (left - own) * wrong * (1 - wrong)
    variance = (spread + max(pairs * end for end in covariance)) / (truth - wrong) ** 2
    return Shown(left, float_up(variance), design.certificate.upper, account.loss)


# -- where the peak is -------------------------------------------------------------------------------------------------


class _Peaks:
    """Laws by their peak: their means of d and h, the best of them, and the lines that prove it best."""

    def __init__(self, problem: Crowd, gap: float, clock: Clock) -> None:
        self.problem, self.gap, self.clock = problem, gap, clock
        self.goal = problem.objective(problem.alignment)
        self.wrong = problem.answers - 1
        self.ends = problem.ratio(up=False), problem.ratio(up=True)
        lie = self.wrong / (float(self.ends[0]) + self.wrong)
        self.least = max(0, math.floor(problem.users * lie - _REACH * (math.sqrt(problem.users * lie * (1 - lie)) + 1)))
        self.most = math.ceil(problem.users * self.wrong / problem.answers) - 1
        self.known: dict[int, tuple[Fraction, Fraction]] = {}

    def at(self, peak: int) -> tuple[Fraction, Fraction]:
        """``(d, E h)`` of a law, in the middle of their enclosures."""
        if peak not in self.known:
            if self.clock.is_over:
                alone = self.problem.independent_variance
                raise NoAnswer("the time limit was reached before any bound was proven", 0.0, float_up(Fraction(alone)))
            law = peaked(self.problem.users, peak, self.ends, self.wrong)
            d, h = (law.mean(part) for part in (self.goal.divisor(), self.goal.height()))
            self.known[peak] = (d[0] + d[1]) / 2, (h[0] + h[1]) / 2
        return self.known[peak]

    def value(self, peak: int) -> Fraction:
        """``E h / d^2``; without end where a report tells nothing."""
        d, h = self.at(peak)
        return h / d**2 if d > 0 else Fraction(10) ** 60

    def best(self) -> int:
        """The best peak: variances fall and then rise in it, and what is found is proven to be the least of all."""
        low, high = self.least, max(self.most, self.least)
        while high - low > 3:
            third = (high - low) // 3
            one, two = low + third, high - third
            low, high = (low, two) if self.value(one) <= self.value(two) else (one, high)
        return min(range(low, high + 1), key=self.value)

    def edge(self, peak: int) -> Fraction | None:
        """The slope between a peak and the next larger one; None at the ends of what is looked at."""
        if not max(0, self.least - 1) <= peak < self.users_most:
            return None
        (d, h), (less_d, less_h) = self.at(peak), self.at(peak + 1)
        return (h - less_h) / (d - less_d)

    @property
    def users_most(self) -> int:
        return min(self.problem.users, self.most + 2)

    def lines(self, peak: int) -> PeakLines:
        """Lines from the best peak to both sides."""
        target = self.value(peak)
        target -= (target - self.goal.offset) * Fraction(self.gap) / 4
        below = self.jensen(target)
        fewer = self.climb(peak, target)
        more = self.descend(peak, target, below)
        chain = [*reversed(more), *fewer]
        kept = [line for k, line in enumerate(chain) if not k or line[1] > chain[k - 1][1]]
        return PeakLines(tuple(peak for peak, _ in kept), tuple(slope for _, slope in kept), below)

    def jensen(self, target: Fraction) -> float:
        """A little less than the largest d up to which ``h(E K) / d^2`` is above the target."""
        top, step, _ = self.goal.divisor()
        a, b, c = self.goal.height()
        square = c / step**2
        linear = b / step - 2 * square * top
        constant = a - b * top / step + square * top**2
        # constant + linear d >= (target - square) d^2
        rest = float(target - square)
        if rest <= 0:
            return 0.0
        root = (float(linear) + math.sqrt(float(linear) ** 2 + 4 * rest * float(constant))) / (2 * rest)
        return min(root * (1 - 1e-9), float(self.at(self.least)[0]))

    def descend(self, peak: int, target: Fraction, below: float) -> list[tuple[int, Fraction]]:
        """Lines to smaller d, each starting where the last one falls below the target."""
        found = [self.inner(peak, near_more=True)]
        stride = 1
        while True:
            start = self.crossing(*found[-1], target, upwards=False)
            if start <= below:
                return found
            nearest = self.beyond(found[-1][0], start, 1)
            at, height = start, target * start**2
            while True:
                candidate = min(max(nearest, found[-1][0] + stride), self.users_most - 1)
                (d, h), (flattest, steepest) = self.at(candidate), self.allowed(candidate)
                needed = (height - h) / (at - d) if at > d else flattest
                if needed <= steepest or candidate <= nearest:
                    break
                stride = max(1, (candidate - found[-1][0]) // 2)
            found.append((candidate, _short(max(needed, flattest))))
            stride = max(2, (candidate - found[-2][0]) * 3 // 2)
            if candidate >= self.users_most - 1:
                return found

    def climb(self, peak: int, target: Fraction) -> list[tuple[int, Fraction]]:
        """Lines to larger d, up to the largest there is."""
        most = self.goal.most_divisor(self.ends[1], self.wrong)
        found = [self.inner(peak, near_more=False)]
        stride = 1
        while True:
            start = self.crossing(*found[-1], target, upwards=True)
            if start >= most or found[-1][0] <= self.least:
                return found
            nearest = self.beyond(found[-1][0], start, -1)
            at, height = start, target * start**2
            while True:
                candidate = max(min(nearest, found[-1][0] - stride), self.least)
                (d, h), (flattest, steepest) = self.at(candidate), self.allowed(candidate)
                needed = (h - height) / (d - at) if d > at else min(steepest, abs(flattest) + 1)
                if needed >= flattest or candidate >= nearest:
                    break
                stride = max(1, (found[-1][0] - candidate) // 2)
            found.append((candidate, _short(min(needed, steepest))))
            stride = max(2, (found[-2][0] - candidate) * 3 // 2)

    def inner(self, peak: int, *, near_more: bool) -> tuple[int, Fraction]:
        """A line that touches at a peak, as flat (or as steep) as the peak allows."""
        flattest, steepest = self.allowed(peak)
        wanted, other = (flattest, steepest) if near_more else (steepest, flattest)
        return peak, _short(wanted if abs(wanted) < _ENDLESS else other)

    def allowed(self, peak: int) -> tuple[Fraction, Fraction]:
        """The flattest and the steepest line that touches at a peak, a little inside; without end on a side where
        nothing lies."""
        flattest, steepest = self.edge(peak), self.edge(peak - 1)
        if flattest is None and steepest is None:
            return -_ENDLESS, _ENDLESS
        if flattest is None or steepest is None:
            only = flattest if flattest is not None else steepest
            inside = abs(only or Fraction(0)) * _INSIDE**2
        else:
            inside = (steepest - flattest) * _INSIDE
        low = -_ENDLESS if flattest is None else flattest + inside
        return low, _ENDLESS if steepest is None else steepest - inside

    def crossing(self, peak: int, slope: Fraction, target: Fraction, *, upwards: bool) -> Fraction:
        """Where a line through a law's point falls below ``target d^2``."""
        d, h = self.at(peak)
        half = slope / (2 * target)
        inside = max(half**2 + (h - slope * d) / target, Fraction(0))
        root = Fraction(math.isqrt(int(inside * (1 << 2 * _DIGITS))), 1 << _DIGITS)
        return half + root if upwards else half - root

    def beyond(self, peak: int, start: Fraction, side: int) -> int:
        """The first peak after (or, with ``side`` -1, before) this one whose d is not on this side of ``start``.

        Neighbours are about equally far apart: the distance is guessed, and then walked.
        """
        last = self.users_most - 1 if side > 0 else self.least

        def short(at: int) -> bool:
            return (self.at(at)[0] - start) * side > 0

        at = peak + side if (last - peak) * side > 0 else last
        while (last - at) * side > 0 and short(at):
            spacing = abs(self.at(at)[0] - self.at(at + side)[0])
            at += side * max(1, min(abs(last - at), int(abs(self.at(at)[0] - start) / spacing)))
        while (at - side - peak) * side > 0 and not short(at - side):
            at -= side
        return at


def _short(slope: Fraction) -> Fraction:
    """The slope on a grid of `_DIGITS` binary places."""
    return Fraction(round(slope * (1 << _DIGITS)), 1 << _DIGITS)
