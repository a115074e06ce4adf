"""Intervals for shares estimated from reports: of the item among these users, or in the population they come from.

Given the data of the users, only the noise of the protocol is random; over users drawn at random from a population the
data are, too, which adds ``f (1 - f) / n`` to the variance.

*Population.* One user's report supports an item with probability ``s = q + (p - q) f``, independently of all others, so
the support is binomial whatever the protocol, and the Clopper-Pearson interval of s, mapped to f, covers with at least
the confidence at every n. Where reports are noisy histograms (SHE) the interval is normal, its sampling variance that
of Agresti and Coull.

*These users.* The interval is normal about the unbiased estimate, with the protocol's exact variance at the estimate.

Ends below 0 or above 1 are kept: they show how the noise fell.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

from mechdesign.collect.protocols import FrequencyProtocol
from mechdesign.errors import InvalidInput, require_number

Floats = NDArray[np.float64]

POPULATION = "population"
USERS = "users"
SHARES = (POPULATION, USERS)


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """By item: standard error of the unbiased estimate and ends of the interval, for the share that ``of`` names."""

    of: str
    method: str
    errors: Floats
    lower: Floats
    upper: Floats


def intervals(law: FrequencyProtocol, support: ArrayLike, n: int, of: str, confidence: float) -> Intervals:
    """Intervals for every item from its support among n reports.

    >>> from mechdesign.collect.protocols import protocol
    >>> found = intervals(protocol("grr", 8.0, 2), [0, 10], 10, "population", 0.95)
    >>> found.lower.round(3).tolist(), found.upper.round(3).tolist()  # of shares that may well be .1 and .9
    ([-0.0, 0.692], [0.308, 1.0])
    """
    level = require_number(confidence, "confidence")
    if not 0 < level < 1:
        raise InvalidInput("confidence", confidence, "lie between 0 and 1", "for example 0.95")
    if of not in SHARES:
        raise InvalidInput("share", of, f"be one of {', '.join(SHARES)}")
    unbiased = law.estimate(support, n)
    share = np.clip(unbiased, 0.0, 1.0)
    variance = law.variance(share, n)
    z = NormalDist().inv_cdf((1 + level) / 2)
    if of == USERS:
        return _normal(of, unbiased, np.sqrt(variance), np.sqrt(variance), z)
    errors = np.sqrt(variance + share * (1 - share) / n)
    if law.q == 0:  # sums of noise, no counts
        drawn = (n * share + z**2 / 2) / (n + z**2)
        return _normal(of, unbiased, errors, np.sqrt(variance + drawn * (1 - drawn) / n), z)
    lower, upper = clopper_pearson(np.asarray(support, dtype=np.float64), n, level)
    gap = law.p - law.q
    return Intervals(of, "exact (Clopper-Pearson)", errors, (lower - law.q) / gap, (upper - law.q) / gap)


def clopper_pearson(successes: Floats, n: int, confidence: float) -> tuple[Floats, Floats]:
    """The exact interval of a chance from how often it came true in n trials.

    >>> [round(float(end), 4) for end in clopper_pearson(np.array(3.0), 10, 0.95)]
    [0.0667, 0.6525]
    """
    tail = (1 - confidence) / 2
    inside, some = successes < n, successes > 0
    low = np.where(some, special.betaincinv(np.where(some, successes, 1), n - successes + 1, tail), 0.0)
    high = np.where(inside, special.betaincinv(successes + 1, np.where(inside, n - successes, 1), 1 - tail), 1.0)
    return low, high


def _normal(of: str, middle: Floats, errors: Floats, spread: Floats, z: float) -> Intervals:
    return Intervals(of, "normal", errors, middle - z * spread, middle + z * spread)
