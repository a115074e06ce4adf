"""Shares of items from how much reports support them, each with an interval: what protocols and tables both need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mechdesign.intervals import clopper_pearson, normal_quantile, reach_of_mean, sample_variance
from mechdesign.tables.kinds import ItemsLaw
from mechdesign.values.declare import Floats, frozen

if TYPE_CHECKING:
    from mechdesign.tables.origin import Origin


@frozen
class Shares:
    """By item: the unbiased share, its standard error, and the ends of its interval.

    ``collided`` are the parts of the reaches below and above, in squares, that are about items whose hashes collide:
    they are the same for everyone who reports under the same functions.
    """

    estimates: Floats
    errors: Floats
    lower: Floats
    upper: Floats
    collided: tuple[Floats, Floats] | tuple[float, float] = (0.0, 0.0)


def shares_of(origin: Origin, sums: Sequence[int], n: int, confidence: float) -> Shares:
    """Unbiased shares ``(support / n - q) / (p - q)`` of the population that the users of n reports were drawn from.

    A report supports an item or does not, with probability ``q + (p - q) f``, so the support is binomial: the interval
    is Clopper and Pearson's, mapped to f, and covers at any n. In Hadamard response a report from another block
    supports an item by half: there the interval is that of a mean, with the variance seen (`reach_of_mean`). Of hashed
    items all this holds under an ideal hash function. The functions of a sketch are few and public, and items that
    collide do so for all users of a function: `_with_collisions`.

    Where a user may have made several reports, each interval is that of fewer reports, as many as have the variance
    that bounds theirs (`Origin`). What a fresh draw adds is, whatever the item, at least the lesser of ``p (1 - p)``
    and ``q (1 - q)``.
    """
    law, chances, most = origin.law, origin.once.chances, origin.most
    assert isinstance(law, ItemsLaw)
    assert chances is not None
    p, q = float(chances.p), float(chances.q)
    gap, z = float(chances.p - chances.q), normal_quantile(confidence)
    support = law.support(sums)
    mean = support / n
    estimates = (mean - q) / gap
    share = np.clip(estimates, 0.0, 1.0)
    seen = law.spread(sums, n)
    people = n / most
    if seen is not None:
        errors = np.sqrt(np.maximum(seen, 0.0) / people) / gap
        below, above = reach_of_mean(mean, sample_variance(seen, people), people, (0.0, 1.0), confidence)
        return Shares(estimates, errors, estimates - below / gap, estimates + above / gap)
    variance = (share * (p * (1 - p)) + (1 - share) * (q * (1 - q))) / gap**2
    last = 0.0 if origin.remembers else min(p * (1 - p), q * (1 - q))
    near = (support / most + z * z / 2) / (people + z * z)  # as Agresti and Coull: few people look not too alike
    worth = n / (origin.shared(near * (1 - near), last) / (near * (1 - near)))
    low, high = clopper_pearson(support * (worth / n), worth, confidence)
    errors = np.sqrt((variance + share * (1 - share)) / worth)
    found = Shares(estimates, errors, (low - q) / gap, (high - q) / gap)
    return _with_collisions(law, found, variance / people, confidence) if law.collisions else found


def _with_collisions(law: ItemsLaw, bare: Shares, variance: Floats, confidence: float) -> Shares:
    """The interval with what items that share a hash add: by chance, and as far as is known by whom.

    Over all choices of m functions into w buckets collisions add ``sum f_u^2 / (m (w - 1))`` to a variance, with the
    shares as estimated. But the functions are public: the shares estimated say which way those of an item move it. The
    interval reaches at least as far as that.
    """
    estimates, share = bare.estimates, np.clip(bare.estimates, 0.0, 1.0)
    squares = min(max(float((estimates**2 - variance).sum()), float((share**2).max())), 1.0)
    by_chance = normal_quantile(confidence) ** 2 * law.collisions * squares
    moved = law.moved(share)
    collided = []
    for reach, known in ((estimates - bare.lower, moved), (bare.upper - estimates, -moved)):
        here = np.maximum(known, 0.0)
        collided.append(np.maximum(by_chance, here * (here + 2 * reach)))  # the reach of both is reach + here, or more
    lower = estimates - np.sqrt((estimates - bare.lower) ** 2 + collided[0])
    upper = estimates + np.sqrt((bare.upper - estimates) ** 2 + collided[1])
    errors = np.sqrt(bare.errors**2 + law.collisions * squares)
    return Shares(estimates, errors, lower, upper, (collided[0], collided[1]))
