"""Intervals for shares estimated from reports: of the item among these users, or in the population they come from.

Given the data of the users, only the noise of the protocol is random; over users drawn at random from a population the
data are, too, which adds ``f (1 - f) / n`` to the variance.

*Population.* A report supports an item or does not, with probability ``s = q + (p - q) f``, independently of all
others, so the support is binomial whatever the protocol, and the Clopper-Pearson interval of s, mapped to f, covers
with at least the confidence at every n. Where support is no count (SHE, HR in several blocks) the interval is that of a
mean (`mechdesign.intervals.reach_of_mean`), with the protocol's own variance at the estimate.

Ends below 0 or above 1 are kept: they show how the noise fell.

*These users.* Of n users a whole number m holds the item, and the support is the sum of two binomials, which grows with
m: the exact interval holds all m for which neither tail is below half of what the confidence leaves. Where the support
has a standard deviation of 32 or more, or is no count, the interval is that of a mean.

By Hoeffding's comparison (1956) the binomial has the longer tails, so the interval for the population covers the share
among these users, too.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import require_one_of
from mechdesign.intervals import clopper_pearson, reach_of_mean, require_confidence
from mechdesign.studies.frequencies.protocols.protocol import FrequencyProtocol, variances
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.values.later import special

_NORMAL = 32.0  # deviations of a support from which its law is close to normal
_AT_ONCE = 1 << 20

POPULATION = "population"
USERS = "users"
SHARES = (POPULATION, USERS)


@frozen
class Intervals:
    """By item: standard error of the unbiased estimate and ends of the interval, for the share that ``of`` names."""

    of: str
    method: str
    errors: Floats = array()
    lower: Floats = array()
    upper: Floats = array()


def share_intervals(law: FrequencyProtocol, support: ArrayLike, n: int, of: str, confidence: float) -> Intervals:
    """Intervals for every item from its support among n reports.

    >>> from mechdesign.studies.frequencies.protocols import protocol
    >>> found = share_intervals(protocol("grr", 8.0, 2), [0, 10], 10, "population", 0.95)
    >>> found.lower.round(3).tolist(), found.upper.round(3).tolist()  # of shares that may well be .1 and .9
    ([-0.0, 0.692], [0.308, 1.0])
    """
    level = require_confidence(confidence)
    require_one_of(of, "share", SHARES)
    unbiased = law.estimate(support, n)
    share = np.clip(unbiased, 0.0, 1.0)
    variance = variances(law, share, n)
    if of == USERS:
        return _of_users(law, np.asarray(support, dtype=np.float64), n, unbiased, np.sqrt(variance), level)
    errors = np.sqrt(variance + share * (1 - share) / n)
    if not _is_count(law):
        return _normal(law, of, unbiased, errors, n, level)
    lower, upper = clopper_pearson(np.asarray(support, dtype=np.float64), n, level)
    gap = law.p - law.q
    return Intervals(of, "exact (Clopper-Pearson)", errors, (lower - law.q) / gap, (upper - law.q) / gap)


@frozen
class Heard:
    """What the reports of users with one law say: the support of every item among so many."""

    law: FrequencyProtocol
    support: Floats = array()
    n: int

    @property
    def unbiased(self) -> Floats:
        return self.law.estimate(self.support, self.n)


def intervals_of_groups(groups: Sequence[Heard], of: str, confidence: float) -> tuple[Floats, Intervals]:
    """Unbiased shares among the users of all groups together, with intervals as of a mean.

    Each group counts as many times as it has users. So nothing is taken for granted about how the groups differ: the
    share is that of all these users, or of a population from which each group is drawn in these proportions. Of two
    groups with 25 users together the interval holds in 93% of all cases at a confidence of 95%, or more (computed for
    some shares, not proven).
    """
    level = require_confidence(confidence)
    require_one_of(of, "share", SHARES)
    n = sum(group.n for group in groups)
    unbiased = np.asarray(sum(group.n / n * group.unbiased for group in groups))
    squares = np.zeros(unbiased.size)
    for group in groups:
        share = np.clip(group.unbiased, 0.0, 1.0)
        drawn = share * (1 - share) / group.n if of == POPULATION else 0.0
        squares += (group.n / n) ** 2 * (variances(group.law, share, group.n) + drawn)
    least = min((group.law for group in groups), key=lambda law: law.p - law.q)
    return unbiased, _normal(least, of, unbiased, np.sqrt(squares), n, level)


def _is_count(law: FrequencyProtocol) -> bool:
    """Whether a report supports an item or does not: the variance of its support is that of a coin."""
    return math.isclose(law.variance(0.0, 1).item() * (law.p - law.q) ** 2, law.q * (1 - law.q), rel_tol=1e-6)


# -- the share among these users ---------------------------------------------------------------------------------------


def _of_users(
    law: FrequencyProtocol, support: Floats, n: int, unbiased: Floats, errors: Floats, level: float
) -> Intervals:
    found = _normal(law, USERS, unbiased, errors, n, level)
    deviations = errors * n * (law.p - law.q)
    few = deviations < _NORMAL
    if not _is_count(law) or not few.any():
        return found
    distinct, place = np.unique(support[few], return_inverse=True)
    coins = _Coins(n, law.p, law.q)
    first, last = coins.holders(distinct, (1 - level) / 2)
    lower, upper = found.lower.copy(), found.upper.copy()
    lower[few], upper[few] = first[place] / n, last[place] / n
    return Intervals(USERS, "exact" if few.all() else "exact or normal", errors, lower, upper)


@frozen
class _Coins:
    """``Bin(m, p) + Bin(n - m, q)``: the support of an item that m of n users hold."""

    n: int
    p: float
    q: float

    def holders(self, support: Floats, tail: float) -> tuple[Floats, Floats]:
        """The least and the largest m for which the support is no surprise on either side."""
        first = self._first(support, lambda m: self.at_least(m, support) > tail)
        # the largest m with P(at most s) > tail comes before the first with P(at least s + 1) >= 1 - tail
        last = self._first(support, lambda m: self.at_least(m, support + 1) >= 1 - tail) - 1
        return np.minimum(first, self.n), np.maximum(last, 0.0)

    def _first(self, support: Floats, holds: Callable[[Floats], NDArray[np.bool_]]) -> Floats:
        """The first m from 0 to n where it holds, and from there on; n + 1 where it never does."""
        middle = np.clip((support - self.n * self.q) / (self.p - self.q), 0, self.n)
        reach = 12 * (_NORMAL + np.sqrt(_NORMAL)) / (self.p - self.q)
        low = np.floor(np.maximum(middle - reach, 0.0))
        high = np.ceil(np.minimum(middle + reach, self.n + 1.0))
        while (high > low).any():
            between = np.floor((low + high) / 2)
            here = holds(np.minimum(between, self.n)) & (between <= self.n) | (between > self.n)
            high, low = np.where(here, between, high), np.where(here, low, np.minimum(between + 1, high))
        return np.asarray(high)

    def at_least(self, m: Floats, support: Floats) -> Floats:
        """``P(support >= s)`` for each m and s: summed over the own users' part, within 9 deviations of its mean."""
        reach = 9 * np.sqrt(m * self.p * (1 - self.p)) + 30
        start = np.floor(np.maximum(m * self.p - reach, 0.0))
        width = int((2 * reach).max()) + 2
        found = np.empty(m.shape)
        rows = max(1, _AT_ONCE // width)
        for begin in range(0, m.size, rows):
            part = slice(begin, begin + rows)
            own = start[part, None] + np.arange(width)
            found[part] = (
                _chance(own, m[part, None], self.p)
                * _at_least(support[part, None] - own, self.n - m[part, None], self.q)
            ).sum(axis=1)
        return found


def _chance(successes: Floats, trials: Floats, chance: float) -> Floats:
    """``P(Bin(trials, chance) = successes)``."""
    inside = successes <= trials
    held = np.where(inside, successes, 0.0)
    ways = -special.betaln(held + 1, trials - held + 1) - np.log1p(trials)
    logarithm = ways + special.xlogy(held, chance) + special.xlog1py(trials - held, -chance)
    return np.where(inside, np.exp(logarithm), 0.0)


def _at_least(successes: Floats, trials: Floats, chance: float) -> Floats:
    """``P(Bin(trials, chance) >= successes)``."""
    inside = (successes >= 1) & (successes <= trials)
    tail = special.betainc(np.where(inside, successes, 1.0), np.where(inside, trials - successes + 1, 1.0), chance)
    return np.where(inside, tail, np.where(successes < 1, 1.0, 0.0))


def _normal(law: FrequencyProtocol, of: str, middle: Floats, errors: Floats, n: int, level: float) -> Intervals:
    """Noise that n reports may have missed moves a support by half, people that they have missed move a share by 1."""
    most = max(0.5 / (law.p - law.q), 1.0)
    below, above = reach_of_mean(middle, n * errors**2, n, (middle - most, middle + most), level)
    return Intervals(of, "normal", errors, middle - below, middle + above)
