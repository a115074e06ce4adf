"""Hadamard response: an index whose entry in the item's Hadamard row is more often +1 (Acharya, Sun and Zhang 2019)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.collect.protocols import arguments, pure
from mechdesign.collect.protocols.randomness import Randomness, require_randomness
from mechdesign.errors import require_epsilon
from mechdesign.mechanisms.analysis import require_generator

Floats = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class HadamardResponse:
    """The report is an index y below K, the least power of two above k.

    Item v owns row v + 1 of the Hadamard matrix, ``H[w, y] = (-1)^(w . y)`` with the dot product of binary digits. y is
    uniform on the K/2 columns where the row is +1 with probability ``p = e^eps / (e^eps + 1)``, else on the others. Any
    two rows agree in half their columns, so ``q = 1/2`` exactly. Good for small eps and short reports; its variance
    does not fall below ``1/n`` however large eps is.

    *Guarantee.* The privacy loss is ``ln [p / (1 - p)]``.

    >>> round(hadamard_response(1.0, 100).privacy_loss(), 12), hadamard_response(1.0, 100).report_bits
    (1.0, 7.0)
    """

    name: str
    epsilon: float
    size: int

    @property
    def p(self) -> float:
        return 1 - self.miss

    @property
    def miss(self) -> float:
        """``1 - p``."""
        return 1 / (math.exp(self.epsilon) + 1)

    @property
    def q(self) -> float:
        return 0.5

    @property
    def columns(self) -> int:
        """K, the number of distinct reports."""
        return 1 << self.size.bit_length()

    @property
    def report_bits(self) -> float:
        return float(self.size.bit_length())

    def channel(self) -> Floats:
        arguments.require_channel_size(self.columns, self.size)
        signs = _transformed(np.eye(self.columns, dtype=np.int64))[1 : self.size + 1]
        return np.where(signs > 0, self.p, self.miss) * 2 / self.columns

    def privacy_loss(self) -> float:
        return math.log(self.p / self.miss)

    def report(self, values: ArrayLike, rng: Randomness) -> Counts:
        """One index a user."""
        rows, source = arguments.require_values(values, self.size) + 1, require_randomness(rng)
        index = source.integers(0, self.columns, rows.size, np.int64)
        is_odd = (np.bitwise_count(index & rows) & 1).astype(np.bool_)
        wanted_odd = source.random(rows.size) < self.miss
        # flipping a digit the row has set changes the sign, and maps the two halves one to one
        return np.where(is_odd == wanted_odd, index, index ^ (rows & -rows))

    def support(self, reports: ArrayLike) -> Counts:
        """How many reports each item's row has +1 for, by a fast transform of their histogram."""
        indices = arguments.require_values(reports, self.columns, "reports")
        return self.support_of_histogram(np.bincount(indices, minlength=self.columns))

    def support_of_histogram(self, histogram: Counts) -> Counts:
        """The same from how often each index was reported."""
        return np.asarray((histogram.sum() + _transformed(histogram)[1 : self.size + 1]) // 2)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        return self.support_of_histogram(self.simulate_histogram(counts, rng))

    def simulate_histogram(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """How often each index is reported, exactly in law, in K log K steps.

        A report is uniform over all K indices with probability ``2 (1 - p)``, else uniform on the item's half, where
        the parity of ``w . y`` is even. For these the digits of y are drawn from the highest down, users pooled by the
        digits drawn, the digits of w to come and the parity so far.
        """
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        true = generator.binomial(held, math.tanh(self.epsilon / 2))
        pool = np.zeros((1, self.columns, 2), dtype=np.int64)  # digits drawn, digits of w to come, parity
        pool[0, 1 : self.size + 1, 0] = true
        while pool.shape[1] > 1:
            pool = _next_digit(pool, generator)
        free = generator.multinomial(held.sum() - true.sum(), np.full(self.columns, 1 / self.columns))
        return np.asarray(pool[:, 0, 0] + free, dtype=np.int64)

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        """Items u and v are covered together only by reports of the item whose row is the sum of theirs."""
        shares, users = arguments.require_frequencies(frequencies, self.size), arguments.require_users(n)
        rows = np.arange(1, self.size + 1)
        third = (rows[:, None] ^ rows[None, :]) - 1
        inside = (third >= 0) & (third < self.size)
        share = np.where(inside, shares[np.where(inside, third, 0)], 0.0)
        matrix = share * (self.p / 2 - 0.25) / (users * (self.p - self.q) ** 2)
        np.fill_diagonal(matrix, self.variance(shares, users))
        return np.asarray(matrix)

    estimate = pure.estimate
    variance = pure.variance


def _next_digit(pool: Counts, generator: np.random.Generator) -> Counts:
    """Draw the next digit of every index: fair, unless it is the last one that can make the parity even."""
    drawn, coming, _ = pool.shape
    by_digit = pool.reshape(drawn, 2, coming // 2, 2)  # digits drawn, w's digit here, its digits to come, parity
    ones = generator.binomial(by_digit, 0.5)
    ones[:, 1, 0, 0], ones[:, 1, 0, 1] = 0, by_digit[:, 1, 0, 1]
    zeros = by_digit - ones
    after = np.empty((drawn, 2, coming // 2, 2), dtype=np.int64)
    after[:, 0] = zeros[:, 0] + zeros[:, 1]
    after[:, 1] = ones[:, 0] + ones[:, 1, :, ::-1]  # a digit both have set turns the parity
    return after.reshape(2 * drawn, coming // 2, 2)


def _transformed(table: Counts) -> Counts:
    """The Walsh-Hadamard transform along the first axis."""
    values = table.astype(np.int64)
    count = values.shape[0]
    step = 1
    while step < count:
        pairs = values.reshape(count // (2 * step), 2, step, *values.shape[1:])
        values = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(values.shape)
        step *= 2
    return values


def hadamard_response(epsilon: float, size: int) -> HadamardResponse:
    """Hadamard response in its form for small eps: halves of the columns."""
    return HadamardResponse("HR", require_epsilon(epsilon), arguments.require_size(size))
