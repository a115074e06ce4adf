"""Generalised randomised response: the report is an item, the true one more often than any other."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_epsilon
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.values.declare import Counts, Floats, frozen


@frozen
class Grr:
    """``P(y | x) = p`` for ``y = x`` and ``q`` for each of the k - 1 other items (Kairouz, Bonawitz and Ramage 2016).

    Drawn as a mixture: the true item with probability ``p - q = 1 - k q``, else an item uniform over all k.

    *Guarantee.* The privacy loss is ``ln(p / q)``.

    >>> coin = grr(math.log(3), 2)
    >>> round(coin.p, 12), round(coin.q, 12), round(coin.privacy_loss(), 12) == round(math.log(3), 12)
    (0.75, 0.25, True)
    """

    name: str
    epsilon: float
    size: int
    p: float
    q: float

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.q <= self.p <= 1 or abs(self.p + (self.size - 1) * self.q - 1) > 1e-9:
            raise InvalidInput("p, q", (self.p, self.q), f"satisfy 0 <= q <= p and p + {self.size - 1} q = 1")

    @property
    def report_bits(self) -> float:
        return float((self.size - 1).bit_length())

    def channel(self) -> Floats:
        arguments.require_channel_size(self.size, self.size)
        matrix = np.full((self.size, self.size), self.q)
        np.fill_diagonal(matrix, self.p)
        return matrix

    def privacy_loss(self) -> float:
        return math.log(self.p / self.q)

    def report(self, values: ArrayLike, rng: Randomness) -> Counts:
        """One item a user."""
        items, source = arguments.require_items(values, self.size), require_randomness(rng)
        return pure.responses(items, self.size, self.size * self.q, source)

    def support(self, reports: ArrayLike) -> Counts:
        return np.bincount(arguments.require_items(reports, self.size, "reports"), minlength=self.size)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """Kept reports ``Bin(n_v, p - q)``, and the rest multinomial with equal chances."""
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        kept = generator.binomial(held, self.p - self.q)
        rest = generator.multinomial(held.sum() - kept.sum(), np.full(self.size, 1 / self.size))
        return np.asarray(kept + rest, dtype=np.int64)

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        shares, users = arguments.require_frequencies(frequencies, self.size), arguments.require_users(n)
        return pure.with_pair_covariance(self, shares, users, -self.p * self.q, -self.q * self.q)

    estimate = pure.estimate
    variance = pure.variance


def grr(epsilon: float, size: int, name: str = "GRR") -> Grr:
    """GRR with ``p = e^eps / (e^eps + k - 1)`` and ``q = 1 / (e^eps + k - 1)``."""
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    q = 1 / (math.exp(epsilon) + size - 1)
    return Grr(name, epsilon, size, math.exp(epsilon) * q, q)
