"""Unary encoding: one bit an item, set for the true one, each flipped on its own."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.values.declare import Counts, frozen

Bits = NDArray[np.bool_]

_AT_ONCE = 1 << 20


@frozen
class Unary:
    """Bit v of the report is 1 with probability ``p`` if v is the user's item and ``q`` if not; bits are independent.

    ``miss`` is ``1 - p`` in full precision.

    *Guarantee.* Two items change two bits, so the privacy loss is ``ln [p (1 - q) / (q (1 - p))]``.

    >>> round(sue(1.0, 10).privacy_loss(), 12), round(oue(1.0, 10).privacy_loss(), 12)
    (1.0, 1.0)
    """

    name: str
    epsilon: float
    size: int
    p: float
    q: float
    miss: float

    def __attrs_post_init__(self) -> None:
        if not 0 < self.q <= self.p <= 1 or not self.miss > 0 or abs(self.p + self.miss - 1) > 1e-12:
            raise InvalidInput("p, q, miss", (self.p, self.q, self.miss), "satisfy 0 < q <= p and p + miss = 1")

    @property
    def report_bits(self) -> float:
        return float(self.size)

    def privacy_loss(self) -> float:
        return pure.coin_loss(self.p, self.q, self.miss)

    def report(self, values: ArrayLike, rng: Randomness) -> Bits:
        """k bits a user."""
        items, source = arguments.require_items(values, self.size), require_randomness(rng)
        return random_bits(items, self.size, self.p, self.q, source)

    def support(self, reports: ArrayLike) -> Counts:
        bits = arguments.require_reports(reports, (self.size,), "b", f"rows of {self.size} bits")
        return np.asarray(bits.sum(axis=0), dtype=np.int64)

    simulate = pure.independent_coins
    estimate = pure.estimate
    variance = pure.variance
    covariance = pure.independent_covariance
    channel = pure.support_sets


def random_bits(items: Counts, size: int, p: float, q: float, source: Randomness) -> Bits:
    """Rows of independent bits, 1 with probability q, or p at the position of the row's item."""
    bits = np.empty((items.size, size), dtype=np.bool_)
    rows = max(1, _AT_ONCE // size)
    for start in range(0, items.size, rows):
        part = bits[start : start + rows]
        np.less(source.random(part.shape), q, out=part)
    bits[np.arange(items.size), items] = source.random(items.size) < p
    return bits


def sue(epsilon: float, size: int) -> Unary:
    """Symmetric unary encoding (basic one-time RAPPOR): ``p = 1 - q = e^(eps/2) / (e^(eps/2) + 1)``."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    flip = 1 / (math.exp(epsilon / 2) + 1)
    return Unary("SUE", epsilon, size, 1 - flip, flip, flip)


def oue(epsilon: float, size: int) -> Unary:
    """Optimised unary encoding: ``p = 1/2`` and ``q = 1 / (e^eps + 1)``, least variance for rare items."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    return Unary("OUE", epsilon, size, 0.5, 1 / (math.exp(epsilon) + 1), 0.5)
