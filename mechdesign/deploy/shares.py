"""Shares of items from how much reports support them, each with an interval: what protocols and tables both need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import special
from scipy.stats import norm

from mechdesign.values.declare import Floats, frozen

if TYPE_CHECKING:
    from mechdesign.deploy.kinds import ItemsLaw
    from mechdesign.deploy.table import Chances


@frozen
class Shares:
    """By item: the unbiased share, its standard error, and the ends of its interval."""

    estimates: Floats
    errors: Floats
    lower: Floats
    upper: Floats


def shares_of(law: ItemsLaw, chances: Chances, sums: Sequence[int], n: int, confidence: float) -> Shares:
    """Unbiased shares ``(support / n - q) / (p - q)`` of the population that n users were drawn from.

    A report supports an item or does not, with probability ``q + (p - q) f``, so the support is binomial: the interval
    is Clopper and Pearson's, mapped to f, and covers at any n. In Hadamard response a report from another block
    supports an item by half: there the interval is normal, with the variance seen and ``z^2 / 2`` reports more at
    either extreme. Of hashed items all this holds under an ideal hash function. The functions of a sketch are few and
    public: items that collide do so for all users of a function, which adds ``sum f_u^2 / (m (w - 1))`` to a variance
    (with m functions and w buckets, and the shares as estimated). There the interval is normal.
    """
    p, q = float(chances.p), float(chances.q)
    gap = float(chances.p - chances.q)
    support = law.support(sums)
    estimates = (support / n - q) / gap
    share = np.clip(estimates, 0.0, 1.0)
    seen = law.spread(sums, n)
    if seen is not None:
        z = float(norm.isf((1 - confidence) / 2))
        mean = support / n
        errors = np.sqrt(np.maximum(seen, 0.0) / n) / gap
        half = z * np.sqrt((np.maximum(seen, 0.0) + z * z / 2 / n * (mean**2 + (1 - mean) ** 2)) / n) / gap
        return Shares(estimates, errors, estimates - half, estimates + half)
    variance = (share * (p * (1 - p)) + (1 - share) * (q * (1 - q))) / (n * gap**2)
    if law.collisions:
        squares = min(max(float((estimates**2 - variance).sum()), float((share**2).max())), 1.0)
        errors = np.sqrt(variance + share * (1 - share) / n + law.collisions * squares)
        half = float(norm.isf((1 - confidence) / 2)) * errors
        return Shares(estimates, errors, estimates - half, estimates + half)
    low, high = clopper_pearson(support, n, confidence)
    return Shares(estimates, np.sqrt(variance + share * (1 - share) / n), (low - q) / gap, (high - q) / gap)


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
