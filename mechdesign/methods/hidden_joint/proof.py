"""Lower bounds on the variance of every joint response of all users, derived in rational arithmetic without a solver.

A law gives each set of k liars (with what they say) the weight ``w_k``. It keeps epsilon against everybody else
together exactly if ``w_k <= e^eps w_(k+1)`` and ``w_(k+1) <= e^eps w_k`` for all k. Its variance is
``E h / (E d)^2 - offset`` with ``h(K) >= 0`` quadratic and ``d(K)`` linear (`Objective`).

**A line below all laws.** Let ``g = h - slope d`` be convex, u the law peaked at k0, ``u_k ~ e^(-eps |k - k0|)``, and
gamma at most the mean of g under u, its mean over ``k < k0``, its mean over ``k > k0``, and at least ``g(k0)``. Then
``E g >= gamma`` for *every* law. The dual says why: with ``c_k = C(n, k) c^k (g(k) - gamma)``

    sum_k c_k w_k = sum_(l < k0) mu_l (e^eps w_l - w_(l+1)) + sum_(l >= k0) lambda_l (e^eps w_(l+1) - w_l) + s w_k0,
    mu_l = sum_(j <= l) c_j e^(-eps (l+1-j)),   lambda_l = sum_(j > l) c_j e^(-eps (j-l)),
    s = c_k0 + mu_(k0-1) + lambda_k0.

Up to k0 the ``c_j`` are first positive and then negative, as g is convex and ``g(k0) <= gamma``: ``mu_l`` rises and
falls (but for the factor ``e^(-eps l)``), and is nowhere negative if ``mu_(k0-1)`` is not. Likewise lambda. So three
numbers decide, ``mu_(k0-1)``, ``lambda_k0`` and s: sums of ``g - gamma`` over the left piece, the right one, all of u.

**Lines below a parabola's multiple.** Each line says ``E h >= gamma + slope d``, so ``E h / d^2`` is at least
``(gamma + slope d) / d^2``, which on a stretch where it is not negative is least at an end. Near ``d = 0`` Jensen's
inequality takes over: ``E h >= h(E K)``. The least over all stretches bounds every law. At the best peak two lines meet
on the law itself, so that the bound is attained: **the optimum is a law with one peak**, never a mixture.

**Where correlation cannot help** (alignment at most 0) users who answer on their own are best: given the others' truths
no user is truthful with a probability above ``P = e^eps / (e^eps + k - 1)``, so ``Cov <= p (P - p)``; the variance with
that falls in p, and p is at most P.

**With a delta** the laws are a polytope, too. Multipliers ``0 <= lambda_l, mu_l <= price`` of the two excesses give
``E g >= min_k [g(k) + (n-k)/n (lambda_k - e^eps mu_k / c) + k/n (mu_(k-1) / c - e^eps lambda_(k-1))] - price delta``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed, require_whole
from mechdesign.exact.peaked import Ends, peaked
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.hidden import CountedResponse, HiddenResponse, PeakedResponse
from mechdesign.mechanisms.joint import require_fraction
from mechdesign.methods.evidence import column
from mechdesign.methods.hidden_joint.crowd import Crowd, Objective, crowd_of
from mechdesign.values.declare import Floats, array, field, finite, frozen
from mechdesign.words.criteria import Family, Scope

MOST_LINES = 3000
"""Lines that are read: a million users need 700."""

Quadratic = tuple[Fraction, Fraction, Fraction]
Line = tuple[Fraction, Fraction]
"""``E h >= first + second d`` for every law."""


@frozen
class PeakLines:
    """Peaks and slopes of lines below all laws, from the most liars to the fewest, and below which d Jensen's
    inequality does it. A wrong slope makes the bound weaker, never wrong."""

    kind: ClassVar[str] = "hidden joint lines"
    claimed: ClassVar[bool] = False

    peaks: tuple[int, ...] = field(converter=lambda said: tuple(require_whole(peak, "peaks", 0) for peak in said))
    slopes: tuple[Fraction, ...] = field(
        converter=lambda said: tuple(require_fraction(slope, "slopes") for slope in said)
    )
    below: float = finite("below")

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = crowd_of(problem)
        if asked.delta:
            raise CheckFailed("lines of peaked laws say nothing about laws with a delta above 0")
        if len(self.peaks) > MOST_LINES:
            raise CheckFailed(f"the evidence has {len(self.peaks)} lines, and {MOST_LINES} are read at most")
        if len(self.peaks) != len(self.slopes) or not self.peaks:
            raise CheckFailed(f"the evidence has {len(self.peaks)} peaks and {len(self.slopes)} slopes")
        goal = asked.objective(asked.alignment)
        ratio = asked.ratio(up=False), asked.ratio(up=True)
        lines = [
            peak_line(goal, ratio, asked.answers - 1, peak, slope)
            for peak, slope in zip(self.peaks, self.slopes, strict=True)
        ]
        return lower_bound(asked, goal, lines, Fraction(self.below))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, crowd_of(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(crowd_of(problem))


@frozen
class IndependentBest:
    """Nothing: where correlation cannot help, the least variance is a formula of the problem."""

    kind: ClassVar[str] = "hidden joint independent"
    claimed: ClassVar[bool] = False

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = crowd_of(problem)
        if asked.delta or asked.alignment > 0:
            raise CheckFailed("users who answer on their own are not known to be best for this problem")
        ratio = asked.ratio(up=True)
        return float_down(asked.variance(ratio / (ratio + asked.answers - 1), Fraction(0)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, crowd_of(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(crowd_of(problem))


@frozen
class HockeyDuals:
    """Multipliers of the excesses, a line after the other: ``lambda`` and ``mu`` of all numbers of known liars.

    ``prices`` are the largest allowed of each line; larger entries are cut.
    """

    kind: ClassVar[str] = "hidden joint duals"
    claimed: ClassVar[bool] = False

    slopes: Floats = array(column("slopes"))
    prices: Floats = array(column("prices"))
    of_truth: Floats = array(column("of truth"))
    of_lie: Floats = array(column("of lie"))

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = crowd_of(problem)
        count, users = self.slopes.size, asked.users
        sizes = (self.prices.size, self.of_truth.size, self.of_lie.size)
        if not count or sizes != (count, count * users, count * users):
            raise CheckFailed(f"the evidence has {count} slopes and {sizes} multipliers for {users} users")
        goal = asked.objective(asked.alignment)
        rows = zip(
            self.slopes.tolist(),
            self.prices.tolist(),
            np.split(self.of_truth, count),
            np.split(self.of_lie, count),
            strict=True,
        )
        lines = [hockey_line(asked, goal, *row) for row in rows]
        return lower_bound(asked, goal, lines, Fraction(0))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, crowd_of(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return scope_of(crowd_of(problem))


def less(height: Quadratic, slope: Fraction, divisor: Quadratic) -> Quadratic:
    """``h - slope d``."""
    a, b, c = (h - slope * d for h, d in zip(height, divisor, strict=True))
    return a, b, c


def peak_line(goal: Objective, ratio: Ends, wrong: int, peak: int, slope: Fraction) -> Line:
    """The line of this slope that a peak proves."""
    if peak > goal.users:
        raise CheckFailed(f"a peak at {peak} is beyond the {goal.users} users")
    law = peaked(goal.users, peak, ratio, wrong)
    tilted = less(goal.height(), slope, goal.divisor())
    if tilted[2] < 0:
        raise CheckFailed("lines of peaked laws need a variance that is convex in the number of liars")
    left, here, right = law.pieces(tilted)
    level = law.mean(tilted)[0]
    if peak:
        level = min(level, _mean(left, law.left.sums[0]))
    if peak < goal.users:
        level = min(level, _mean(right, law.right.sums[0]))
    if here > level:
        raise CheckFailed(f"the peak at {peak} proves no line of slope {float(slope)!r}")
    return level, slope


def _mean(sums: Ends, weights: Ends) -> Fraction:
    """The mean of a piece, rounded down."""
    return sums[0] / weights[1] if sums[0] >= 0 else sums[0] / weights[0]


def hockey_line(problem: Crowd, goal: Objective, slope: float, price: float, truth: Floats, lie: Floats) -> Line:
    """The line that multipliers of the excesses prove, whatever they are: cut to between 0 and the price."""
    users, wrong = goal.users, problem.answers - 1
    highest = max(Fraction(price), Fraction(0))
    most = problem.ratio(up=True)
    a, b, c = less(goal.height(), Fraction(slope), goal.divisor())
    cut = [[min(max(Fraction(m), Fraction(0)), highest) for m in row.tolist()] for row in (truth, lie)]
    known = [*cut[0], Fraction(0)]
    lied = [*cut[1], Fraction(0)]
    level = min(
        a
        + b * k
        + c * k * k
        + Fraction(users - k, users) * (known[k] - most * lied[k])
        + Fraction(k, users * wrong) * (lied[k - 1] - most * known[k - 1])
        for k in range(users + 1)
    )
    return level - highest * Fraction(problem.delta), Fraction(slope)


def lower_bound(problem: Crowd, goal: Objective, lines: Sequence[Line], below: Fraction) -> float:
    """The least variance that lines, ordered by slope, leave possible, rounded down."""
    most = _most_divisor(problem, goal)
    if any(first[1] >= second[1] for first, second in pairwise(lines)):
        raise CheckFailed("the lines of the evidence must be ordered by their slopes")
    cuts = [max(below, Fraction(0))]
    for (level, slope), (above, steeper) in pairwise(lines):
        cuts.append(min(max((level - above) / (steeper - slope), cuts[-1]), most))
    cuts.append(max(most, cuts[-1]))
    values = [_near_nothing(goal, cuts[0])]
    for (level, slope), start, end in zip(lines, cuts, cuts[1:], strict=False):
        ends = [(level + slope * d, d) for d in (start, end)]
        if min(height for height, _ in ends) < 0:
            raise CheckFailed("the lines of the evidence leave every variance possible")
        values += [height / (d * d) for height, d in ends if d > 0]
    least: Fraction = min(value for value in values if value is not None) - goal.offset
    return float_down(max(least, Fraction(0)))


def _near_nothing(goal: Objective, below: Fraction) -> Fraction | None:
    """The least of ``h(E K) / d^2`` for d up to ``below``, where it falls; None if nothing is asked."""
    if below == 0:
        return None
    (top, step, _), (a, b, c) = goal.divisor(), goal.height()
    # in terms of d: k = (d - top) / step
    square = c / step**2
    linear = b / step - 2 * square * top
    constant = a - b * top / step + square * top**2
    if constant < 0 or 2 * constant + linear * below < 0:
        raise CheckFailed(f"Jensen's inequality does not fall up to {float(below)!r}")
    return (constant + linear * below + square * below**2) / below**2


def _most_divisor(problem: Crowd, goal: Objective) -> Fraction:
    """The largest d of any law: with a delta the user is truthful a little more often."""
    ratio, wrong = problem.ratio(up=True), problem.answers - 1
    # P(T = 1) <= e^eps P(T = 0) / wrong + delta
    truth = (ratio + wrong * Fraction(problem.delta)) / (ratio + wrong)
    return goal.scale * (min(truth, Fraction(1)) - goal.floor)


def attained_by(mechanism: Any, problem: Crowd) -> float:
    """The variance of a hidden law for the problem, rounded up; over a range of shares the worst."""
    if not isinstance(mechanism, PeakedResponse | CountedResponse):
        raise CheckFailed(f"the evidence is about hidden joint laws, not about a {type(mechanism).__name__}")
    if (mechanism.users, mechanism.categories) != (problem.users, problem.answers):
        raise CheckFailed(
            f"the law is for {mechanism.users} users with {mechanism.categories} answers, "
            f"the problem for {problem.users} with {problem.answers}"
        )
    goal = problem.goal()
    return float_up(max(most_variance(mechanism, problem.objective(pairs)) for pairs in {goal.low, goal.high}))


def most_variance(law: HiddenResponse, goal: Objective) -> Fraction:
    """``E h / d^2 - offset`` of a law, rounded up."""
    height, divisor = (mean_of(law, quadratic) for quadratic in (goal.height(), goal.divisor()))
    result: Fraction = height[1] / divisor[0] ** 2 - goal.offset
    return result


def mean_of(law: HiddenResponse, quadratic: Quadratic) -> Ends:
    """An enclosure of the expectation of a quadratic in the number of liars."""
    if isinstance(law, PeakedResponse) and law.peak == 0:  # binomial: users lie on their own
        lie = (law.categories - 1) / (law.ratio + law.categories - 1)
        mean = law.users * lie
        own = quadratic[0] + quadratic[1] * mean + quadratic[2] * (mean * (1 - lie) + mean**2)
        return own, own
    if isinstance(law, PeakedResponse):
        return peaked(law.users, law.peak, (law.ratio, law.ratio), law.categories - 1).mean(quadratic)
    a, b, c = quadratic
    exact = sum(((a + b * k + c * k * k) * chance for k, chance in enumerate(law.chances)), Fraction(0))
    return exact, exact


def scope_of(problem: Crowd) -> Scope:
    """Among which laws the optimum was sought."""
    # laws that spread the lies over several wrong values more evenly than chance does are not among them
    more = "" if problem.answers == 2 else f", each lie drawn on its own, p above 1/{problem.answers}"
    return Scope(Family.EXCHANGEABLE, more)
