"""Exact lower bounds on the variance of joint randomised response, by formulas that need no solver.

**Pairs** (k = 2). Write ``a = m/(n-1)``, ``A = B/n`` and ``b = 2U - 1`` with ``U = e^eps/(1+e^eps)``. For rho = -r <=
0 theorem 3 reads ``p <= U/(1+ar)`` and a cap on the conditional loss ``p <= S/(1+r)``, ``S = e^cap/(1+e^cap)`` (S = 1
without one, which is where probabilities end). The variance falls in p, so the largest p is best, and on either piece

    ``Var = n/4 (1+b)(1-b+2ar)(1-Ar)/(b-ar)^2``      (a = 1 and U = S on the second).

Its derivative has the sign of a *linear* function of r (the squares cancel), so the least value is at r = 0, where the
pieces meet, or at one rational point of each. For rho >= 0 likewise, with ``q >= (1-U)/(1-a rho)``,
``q >= (1-S)/(1-rho)``.

**Groups.** For a fixed p the variance is linear in the weights, and the least second moment ``M(p) = min sum t^2 w_t``
is convex in p: every dual solution is a line below it, checked here by exact weak duality. With M replaced by a line
the variance is a *quadratic* in ``x = 1/(kp - 1)``, whose least value on a segment is rational and exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

from mechdesign.mechanisms.joint import alignment
from mechdesign.values.declare import frozen

Number = Any
"""A Fraction where a bound is proven, a float while one is searched for."""


@frozen
class Goal:
    """The variance to be small: of the count of a category that ``own`` of the users hold.

    ``low`` and ``high`` are the least and largest alignment B in question: equal for one count or the mean over a
    prior; for a range of counts the variance is the largest, ``max(low Cov, high Cov)`` above that of independent
    truths.
    """

    users: int
    group: int
    categories: int
    own: Fraction
    low: Fraction
    high: Fraction

    @classmethod
    def of_counts(cls, users: int, group: int, categories: int, least: Fraction, most: Fraction) -> Goal:
        """The worst count from ``least`` to ``most``; B is a parabola around the even share, n/k for k = 2."""
        even = min(max(Fraction(users // 2), least), most)
        values = [alignment(users, count, group, categories) for count in (least, most, even)]
        if users % 2 and least <= users // 2 + 1 <= most:
            values.append(alignment(users, users // 2 + 1, group, categories))
        return cls(users, group, categories, least, min(values), max(values))

    def spread(self, p: Number) -> Number:
        """The variance of the reports of independent truths."""
        q = (1 - p) / (self.categories - 1)
        return self.own * p * (1 - p) + (self.users - self.own) * q * (1 - q)

    def variance(self, p: Number, covariance: Number) -> Number:
        q = (1 - p) / (self.categories - 1)
        return (self.spread(p) + max(self.low * covariance, self.high * covariance)) / (p - q) ** 2

    @property
    def helpful(self) -> Fraction:
        """B where correlation can lower the variance: above 0 for negative, below for positive correlation, else 0."""
        return self.low if self.low > 0 else min(self.high, Fraction(0))


@frozen
class PairPoint:
    """A law of pairs and its variance, exactly."""

    p: Fraction
    rho: Fraction
    variance: Fraction


def least_pair(goal: Goal, budget: Fraction, cap: Fraction, chance: Fraction) -> PairPoint:
    """The pair of least variance; ``budget`` is U, ``cap`` is S and ``chance`` is a of the module's formulas.

    *Guarantee.* With U and S rounded up the variance is a lower bound for every pair that meets both constraints.

    >>> goal = Goal.of_counts(10000, 2, 2, Fraction(330), Fraction(330))
    >>> best = least_pair(goal, Fraction(3, 4), Fraction(1), Fraction(0))
    >>> best.p, best.rho, float(best.p * (1 + -best.rho))
    (Fraction(3, 4), Fraction(-1, 3), 1.0)
    """
    points = [_pair_at(goal, r, budget, cap, chance) for r in _candidates(goal, budget, cap, chance)]
    return min((point for point in points if point is not None), key=lambda point: point.variance)


def _pair_at(goal: Goal, rho: Fraction, budget: Fraction, cap: Fraction, chance: Fraction) -> PairPoint | None:
    if rho <= 0:
        p = min(budget / (1 - chance * rho), cap / (1 - rho))
    else:
        ends = [(1 - budget) / (1 - chance * rho)] if chance * rho < 1 else []
        if cap < 1:
            if rho == 1:
                return None
            ends.append((1 - cap) / (1 - rho))
        if not ends:
            return None
        p = 1 - max(ends)
    if 2 * p <= 1:
        return None
    return PairPoint(p, rho, goal.variance(p, rho * p * (1 - p)))


def _candidates(goal: Goal, budget: Fraction, cap: Fraction, chance: Fraction) -> list[Fraction]:
    """Where the least variance can be: no correlation, the ends of pieces, and the stationary point of each."""
    found = [Fraction(0)]
    if goal.low > 0:
        share = goal.low / goal.users
        meet = _quotient(cap - budget, budget - chance * cap)
        stationary = [_falling(share, budget, chance), _falling(share, cap, Fraction(1))]
        found += [-r for r in (meet, *stationary) if r is not None and 0 < r < 1]
    if goal.high < 0:
        share = goal.high / goal.users
        meet = _quotient(cap - budget, (1 - budget) - chance * (1 - cap))
        stationary = [_rising(share, budget, chance), _rising(share, cap, Fraction(1)) if cap < 1 else None]
        found += [r for r in (meet, *stationary, Fraction(1)) if r is not None and 0 < r <= 1]
    return found


def _falling(share: Fraction, budget: Fraction, a: Fraction) -> Fraction | None:
    """The zero in r of the derivative of ``(1-b+2ar)(1-Ar)/(b-ar)^2``."""
    b = 2 * budget - 1
    first = 2 * a - share * (1 - b)
    return _quotient(-(first * b + 2 * a * (1 - b)), a * first - 4 * a * share * b)


def _rising(share: Fraction, budget: Fraction, a: Fraction) -> Fraction | None:
    """The zero in rho of the derivative of ``(1+b-2a rho)(1+A rho)/(b-a rho)^2``."""
    b = 2 * budget - 1
    first = share * (1 + b) - 2 * a
    return _quotient(-(first * b + 2 * a * (1 + b)), a * first - 4 * a * share * b)


def _quotient(over: Fraction, under: Fraction) -> Fraction | None:
    return over / under if under else None


# -- groups ------------------------------------------------------------------------------------------------------------

Line = tuple[Number, Number]
"""``(intercept, slope)`` in ``s = sum t w_t = g p``."""


def line_below(costs: Sequence[int], slope: Fraction, rows: Iterable[tuple[Fraction, Sequence[Fraction]]]) -> Line:
    """``(intercept, slope)`` with ``sum costs_t w_t >= intercept + slope sum t w_t`` for every law that meets the rows.

    ``rows`` are pairs of a multiplier of at least 0 and the coefficients of a constraint ``row . w <= 0``. Weak
    duality: ``costs . w >= costs . w + sum multiplier row . w >= slope sum t w_t + min_t (...) sum w_t``.

    >>> line_below([0, 1, 4], Fraction(3), [])
    (Fraction(-2, 1), Fraction(3, 1))
    """
    reduced = [Fraction(cost) - slope * t for t, cost in enumerate(costs)]
    for multiplier, row in rows:
        if multiplier < 0:
            raise ValueError("multipliers of inequalities are at least 0")
        reduced = [value + multiplier * entry for value, entry in zip(reduced, row, strict=True)]
    return min(reduced), slope


def least_on_lines(goal: Goal, lines: Sequence[Line], p_low: Number, p_high: Number) -> tuple[Number, Number]:
    """``(value, p)``: the least variance for p in the range if the second moment is the largest of ``lines`` at p.

    For positive correlation (``goal.helpful < 0``) lines bound ``-sum t^2 w_t`` instead. Exact on Fractions.
    """
    size = goal.group
    places = upper_envelope(lines, size * p_low, size * p_high)
    best = None
    for line, low, high in places:
        found = _least_quadratic(goal, line, low / size, high / size)
        if best is None or found[0] < best[0]:
            best = found
    assert best is not None
    return best


def upper_envelope(lines: Sequence[Line], low: Number, high: Number) -> list[tuple[Line, Number, Number]]:
    """The largest of the lines from ``low`` to ``high``, as stretches."""
    hull: list[Line] = []
    for line in sorted(lines, key=lambda line: (line[1], line[0])):
        if hull and hull[-1][1] == line[1]:
            hull.pop()
        while len(hull) > 1 and _crossing(hull[-2], line) <= _crossing(hull[-2], hull[-1]):
            hull.pop()
        hull.append(line)
    stretches: list[tuple[Line, Number, Number]] = []
    start = low
    for k, line in enumerate(hull):
        stop = high if k + 1 == len(hull) else min(high, _crossing(line, hull[k + 1]))
        if stop > start or (stop == start and not stretches and k + 1 == len(hull)):
            stretches.append((line, start, stop))
            start = stop
    return stretches


def _crossing(first: Line, second: Line) -> Number:
    return (first[0] - second[0]) / (second[1] - first[1])


def _least_quadratic(goal: Goal, line: Line, low: Number, high: Number) -> tuple[Number, Number]:
    """With ``num(p) = c0 + c1 p + c2 p^2`` the variance is ``(k-1)^2 (c0 x^2 + c1 x(x+1)/k + c2 (x+1)^2/k^2)``."""
    g, k, n = goal.group, goal.categories, goal.users
    exact = isinstance(low, Fraction)
    number: Callable[[Fraction], Number] = Fraction if exact else float
    helpful, own = number(goal.helpful), number(goal.own)
    pairs, rest = g * (g - 1), number((n - goal.own) / (k - 1) ** 2)
    # q (1-q) = (1-p)(k-2+p) / (k-1)^2
    c0 = rest * (k - 2) + abs(helpful) * line[0] / pairs
    c1 = own + rest * (3 - k) + abs(helpful) * line[1] * g / pairs - helpful * g / pairs
    c2 = -own - rest - helpful
    a2, a1, a0 = c0 + c1 / k + c2 / (k * k), c1 / k + 2 * c2 / (k * k), c2 / (k * k)
    near, far = 1 / (k * high - 1), 1 / (k * low - 1)
    xs = [near, far]
    if a2 > 0 and near < -a1 / (2 * a2) < far:
        xs.append(-a1 / (2 * a2))
    value, x = min(((k - 1) ** 2 * (a2 * x * x + a1 * x + a0), x) for x in xs)
    return value, (x + 1) / (k * x)
