"""Local hashing: each user draws a hash function to g values and reports the hash by randomised response."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_epsilon, require_whole
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.studies.frequencies.protocols.xxh32 import xxh32_decimal
from mechdesign.tables.kinds.hashing import agreements, hash_values
from mechdesign.values.declare import Counts, Floats, frozen, one_of
from mechdesign.values.later import optimize
from mechdesign.values.xxh64 import xxh64

Words = NDArray[np.uint64]

MOST_VALUES = 1 << 31
SEED_BITS = 64

HASHES = {"xxh64": xxh64, "xxh32-decimal": xxh32_decimal}
"""What clients hash: the number of an item as eight bytes, or the text of its digits as other packages do."""


@frozen
class LocalHashing:
    """The report is ``(seed, y)`` with y the hash of the item among g values, kept with probability ``p``.

    y is any other hash value with probability ``(1 - p) / (g - 1)`` each. A report supports the items that its hash
    function sends to y, so another item is supported with probability ``q = 1/g`` under an ideal hash; the client uses
    XXH64, seeds of 64 bits, or the ``hash`` of another package. ``miss`` is ``1 - p`` in full precision.

    *Guarantee.* The seed is independent of the item, so whatever the hash function, the loss is at most
    ``ln [p (g - 1) / (1 - p)]``, and equal to it as soon as some seed tells two items apart. Simulation is exact for
    the ideal hash: items are supported independently, with probability p or 1/g.

    >>> olh(1.0, 100).hashes, round(olh(1.0, 100).privacy_loss(), 12)
    (4, 1.0)
    """

    name: str
    epsilon: float
    size: int
    hashes: int
    p: float
    miss: float
    hash: str = one_of("hash", HASHES, default="xxh64")

    def __attrs_post_init__(self) -> None:
        require_whole(self.hashes, "g", 2, MOST_VALUES)
        if not self.q <= self.p <= 1 or not self.miss > 0 or abs(self.p + self.miss - 1) > 1e-12:
            raise InvalidInput("p, miss", (self.p, self.miss), "satisfy p >= 1/g and p + miss = 1")

    @property
    def q(self) -> float:
        return 1 / self.hashes

    @property
    def report_bits(self) -> float:
        return float(SEED_BITS + (self.hashes - 1).bit_length())

    def privacy_loss(self) -> float:
        return math.log(self.p) - math.log(self.miss / (self.hashes - 1))

    def report(self, values: ArrayLike, rng: Randomness) -> Words:
        """A seed and a perturbed hash a user, as two columns."""
        items, source = arguments.require_items(values, self.size), require_randomness(rng)
        seeds = random_seeds(items.size, source)
        hashed = hash_values(items, seeds, self.hashes, HASHES[self.hash])
        return np.stack([seeds, self.perturb(hashed, source)], axis=1)

    def perturb(self, hashed: Words, source: Randomness) -> Words:
        """Randomised response among the g hash values."""
        return pure.responses(hashed, self.hashes, self.miss * self.hashes / (self.hashes - 1), source)

    def support(self, reports: ArrayLike) -> Counts:
        """How many reports each item's hash agrees with: a hash for every report and item."""
        return hash_support(reports, np.arange(self.size, dtype=np.uint64), self.hashes, self.hash)

    simulate = pure.independent_coins
    estimate = pure.estimate
    variance = pure.variance
    covariance = pure.independent_covariance
    channel = pure.support_sets


def random_seeds(count: int, source: Randomness) -> Words:
    """One seed a user."""
    return np.asarray(source.integers(0, 1 << SEED_BITS, count, np.uint64))


def hash_support(reports: ArrayLike, numbers: Words, hashes: int, name: str = "xxh64") -> Counts:
    """How many reports ``(seed, y)`` the hash of each number agrees with."""
    pairs = arguments.require_reports(reports, (2,), "u", "pairs of a seed and a hash")
    if pairs.size and pairs[:, 1].max() >= hashes:
        place = int(np.argmax(pairs[:, 1] >= hashes))
        raise InvalidData(f"reports[{place}]", int(pairs[place, 1]), f"hold hashes below {hashes}")
    seeds, said = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    return agreements(numbers, seeds, said, hashes, HASHES[name])


def blh(epsilon: float, size: int) -> LocalHashing:
    """Binary local hashing: g = 2."""
    return local_hashing(epsilon, size, 2, "BLH")


def olh(epsilon: float, size: int, g: int | None = None) -> LocalHashing:
    """Optimised local hashing; unless given, g has the least exact total variance (not the rounded ``e^eps + 1``)."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    return local_hashing(epsilon, size, best_hashes(epsilon, size) if g is None else g, "OLH")


def local_hashing(epsilon: float, size: int, hashes: int, name: str) -> LocalHashing:
    """Local hashing to g values: ``p = e^eps / (e^eps + g - 1)``."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    require_whole(hashes, "g", 2, MOST_VALUES)
    whole = math.exp(epsilon) + hashes - 1
    return LocalHashing(name, epsilon, size, hashes, math.exp(epsilon) / whole, (hashes - 1) / whole)


def best_hashes(epsilon: float, size: int) -> int:
    """The g with the least total variance under the ideal hash.

    >>> [best_hashes(eps, 100) for eps in (0.5, 1.0, 2.0, 4.0)]
    [3, 4, 8, 45]
    """

    def total(g: Floats | float) -> Floats:
        whole = math.exp(epsilon) + g - 1
        gap = math.expm1(epsilon) * (g - 1) / (g * whole)
        return pure.total_variance(size, math.exp(epsilon) / whole, 1 / g, gap)

    # one valley in g: the integers next to its bottom are compared
    bottom = optimize.minimize_scalar(
        lambda log_g: float(total(math.exp(log_g))), bounds=(math.log(2), math.log(MOST_VALUES)), method="bounded"
    )
    middle = round(math.exp(bottom.x))
    near = np.arange(max(2, middle - 8), min(MOST_VALUES, middle + 8) + 1)
    return int(near[np.argmin(total(near.astype(np.float64)))])
