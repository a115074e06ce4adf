"""Hadamard response: an index where the row of the item, in its block, is more often +1 (Acharya, Sun, Zhang 2019)."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidInput, require_epsilon, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments, pure
from mechdesign.studies.frequencies.protocols.randomness import Randomness, require_randomness
from mechdesign.tables.kinds.hadamard import Blocks, is_odd
from mechdesign.values.declare import Counts, Floats, frozen


@frozen
class HadamardResponse:
    """The report is one of K = B b indices: B ``blocks`` of b, a power of two, each with a Hadamard matrix.

    `Blocks` has the block and the row of an item. An index of its block where its row is +1, of which there are ``s =
    b / 2``, has probability ``e^eps / Z``, every other index ``1 / Z``, with ``Z = s e^eps + K - s``. One block is best
    for small eps; with B = k, near randomised response, for large.

    A report supports an item with 1 where its row is +1, with 0 where it is -1, and with 1/2 from outside the block.
    Rows are balanced and two of them agree in half their columns, so any other item is supported with ``q = 1/2`` on
    average, and ``p = 1/2 + m / 2`` with ``m = s (e^eps - 1) / Z``: the paper's estimator is the usual one.

    *Guarantee.* The privacy loss is ``ln [(e^eps / Z) / (1 / Z)]``, which is eps.

    >>> [(law.blocks, law.columns) for law in (hadamard_response(eps, 100) for eps in (0.5, 1.0, 2.0, 4.0, 16.0))]
    [(1, 128), (1, 128), (4, 128), (32, 256), (128, 256)]
    """

    name: str
    epsilon: float
    size: int
    blocks: int

    def __attrs_post_init__(self) -> None:
        most = 1 << (self.size - 1).bit_length()
        count = require_whole(self.blocks, "blocks", 1, most)
        if count & (count - 1):
            raise InvalidInput("blocks", self.blocks, "be a power of two")

    @property
    def layout(self) -> Blocks:
        """Where items stand."""
        return Blocks(self.size, self.blocks)

    @property
    def width(self) -> int:
        """b, the indices of a block."""
        return 1 << self.layout.place_bits

    @property
    def columns(self) -> int:
        """K, the number of distinct reports."""
        return self.layout.columns

    @property
    def report_bits(self) -> float:
        return float((self.columns - 1).bit_length())

    @property
    def _whole(self) -> float:
        """Z."""
        own = self.width // 2
        return own * math.exp(self.epsilon) + self.columns - own

    @property
    def sign(self) -> float:
        """m: the mean of the report's entry in the row of the user's own item."""
        return self.width / 2 * math.expm1(self.epsilon) / self._whole

    @property
    def p(self) -> float:
        return 0.5 + self.sign / 2

    @property
    def q(self) -> float:
        return 0.5

    def channel(self) -> Floats:
        arguments.require_channel_size(self.columns, self.size)
        matrix = np.full((self.size, self.blocks, self.width), 1 / self._whole)
        items = np.arange(self.size)
        rows, homes = self.layout.stand(items)
        odd = is_odd(np.arange(self.width), rows[:, None])
        matrix[items, homes] = np.where(odd, 1.0, math.exp(self.epsilon)) / self._whole
        return matrix.reshape(self.size, self.columns)

    def privacy_loss(self) -> float:
        return math.log(math.exp(self.epsilon) / self._whole) - math.log(1 / self._whole)

    def report(self, values: ArrayLike, rng: Randomness) -> Counts:
        """One index a user: any one with probability ``K / Z``, else one where the own row is +1."""
        items, source = arguments.require_items(values, self.size), require_randomness(rng)
        index = source.integers(0, self.columns, items.size, np.int64)
        kept = source.random(items.size) >= self.columns / self._whole
        rows, homes = self.layout.stand(items)
        return np.where(kept, homes * self.width + self.layout.in_half(index % self.width, rows, 0), index)

    def support(self, reports: ArrayLike) -> Floats:
        """How much each item is supported, by a fast transform of the histogram of each block."""
        indices = arguments.require_items(reports, self.columns, "reports")
        return self.support_of_histogram(np.bincount(indices, minlength=self.columns))

    def support_of_histogram(self, histogram: Counts) -> Floats:
        """The same from how often each index was reported."""
        return self.layout.support(histogram)

    def simulate(self, counts: ArrayLike, rng: np.random.Generator) -> Floats:
        return self.support_of_histogram(self.simulate_histogram(counts, rng))

    def simulate_histogram(self, counts: ArrayLike, rng: np.random.Generator) -> Counts:
        """How often each index is reported, exactly in law, in K log b steps.

        A report is uniform over all K indices with probability ``K / Z``, else uniform on the half of its block where
        the parity of ``r . y`` is even. For these the digits of y are drawn from the highest down, the users of a block
        pooled by the digits drawn, the digits of r to come and the parity so far.
        """
        held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
        true = generator.binomial(held, self.sign)
        pool = np.zeros((self.blocks, 1, self.width, 2), dtype=np.int64)  # digits drawn, digits of r to come, parity
        rows, homes = self.layout.stand(np.arange(self.size))
        pool[homes, 0, rows, 0] = true
        while pool.shape[2] > 1:
            pool = _next_digit(pool, generator)
        free = generator.multinomial(held.sum() - true.sum(), np.full(self.columns, 1 / self.columns))
        return np.asarray(pool[:, :, 0, 0].ravel() + free, dtype=np.int64)

    def variance(self, f: ArrayLike, n: int) -> Floats:
        """The average over items of the variance at frequency f, the other items equally frequent.

        What an item's own block holds adds to its noise; `variances` has the exact one of each, for given frequencies.
        """
        share = arguments.require_shares(f, "f")
        least, larger = divmod(self.size, self.blocks)  # items of a block, and how many blocks have one more
        pairs = (self.blocks - larger) * least * (least - 1) + larger * (least + 1) * least
        near = pairs / (self.size * (self.size - 1))
        return self._variance(share, share + (1 - share) * near, arguments.require_users(n))

    def variances(self, frequencies: ArrayLike, n: int) -> Floats:
        """The variance of each estimate where the k items have these frequencies.

        ``{B_v (e^eps + 1) s / Z + (1 - B_v) 2 s / Z - f_v m^2} / (n m^2)``: ``B_v`` is the share of users in v's block,
        whose reports fall into it, and so have an entry of +1 or -1 in v's row, with the first of these chances.
        """
        shares = arguments.require_shares(frequencies)
        if shares.shape != (self.size,):
            raise InvalidInput("frequencies", shares.shape, f"be {self.size} shares")
        _, home = self.layout.stand(np.arange(self.size))
        inside = np.minimum(np.bincount(home, weights=shares, minlength=self.blocks), 1.0)
        return self._variance(shares, inside[home], arguments.require_users(n))

    def _variance(self, share: Floats, inside: Floats, users: int) -> Floats:
        own = self.width / 2 / self._whole
        seen = inside * (own * (math.exp(self.epsilon) + 1)) + (1 - inside) * (2 * own)
        return np.asarray((seen - share * self.sign**2) / (users * self.sign**2))

    def covariance(self, frequencies: ArrayLike, n: int) -> Floats:
        """Items u and v of a block are covered together only by reports of the item whose row is the sum of theirs."""
        shares, users = arguments.require_frequencies(frequencies, self.size), arguments.require_users(n)
        rows, homes = self.layout.stand(np.arange(self.size))
        third = ((rows[:, None] ^ rows[None, :]) - 1) * self.blocks + homes[:, None]
        inside = (homes[:, None] == homes[None, :]) & (third >= 0) & (third < self.size)
        matrix = np.where(inside, shares[np.where(inside, third, 0)], 0.0) / (users * self.sign)
        np.fill_diagonal(matrix, self.variances(shares, users))
        return np.asarray(matrix)

    estimate = pure.estimate


def _next_digit(pool: Counts, generator: np.random.Generator) -> Counts:
    """Draw the next digit of every index: fair, unless it is the last one that can make the parity even."""
    blocks, drawn, coming, _ = pool.shape
    by_digit = pool.reshape(blocks, drawn, 2, coming // 2, 2)  # ..., r's digit here, its digits to come, parity
    ones = generator.binomial(by_digit, 0.5)
    ones[:, :, 1, 0, 0], ones[:, :, 1, 0, 1] = 0, by_digit[:, :, 1, 0, 1]
    zeros = by_digit - ones
    after = np.empty((blocks, drawn, 2, coming // 2, 2), dtype=np.int64)
    after[:, :, 0] = zeros[:, :, 0] + zeros[:, :, 1]
    after[:, :, 1] = ones[:, :, 0] + ones[:, :, 1, :, ::-1]  # a digit both have set turns the parity
    return after.reshape(blocks, 2 * drawn, coming // 2, 2)


def hadamard_response(epsilon: float, size: int, blocks: int | None = None) -> HadamardResponse:
    """Hadamard response for any eps; unless given, the number of blocks has the least exact total variance.

    The paper's own number, `published_blocks`, is the same for most eps. Where e^eps is just above a power of two it
    has more variance: 38% for 100 items at eps = 0.7.
    """
    epsilon, size = require_epsilon(epsilon), arguments.require_item_count(size)
    return HadamardResponse("HR", epsilon, size, best_blocks(epsilon, size) if blocks is None else blocks)


def best_blocks(epsilon: float, size: int) -> int:
    """The power of two with the least total variance; that is the same for all data if blocks have equally many items.

    >>> [best_blocks(eps, 100) for eps in (0.5, 1.0, 2.0, 3.0, 4.0)]
    [1, 1, 4, 8, 32]
    """

    def total(blocks: int) -> float:
        return float(HadamardResponse("HR", epsilon, size, blocks).variance(1 / size, 1))

    return min((1 << step for step in range((size - 1).bit_length() + 1)), key=total)


def published_blocks(epsilon: float, size: int) -> int:
    """``2^(ceil(log2 min(e^eps, 2 k)) - 1)``: the greatest power of two below ``min(e^eps, 2 k)``, and at least 1.

    >>> [published_blocks(eps, 100) for eps in (0.5, 1.0, 2.0, 3.0, 4.0)]
    [1, 2, 4, 16, 32]
    """
    most, blocks = min(math.exp(epsilon), 2.0 * size), 1
    while 2 * blocks < most:
        blocks *= 2
    return blocks
