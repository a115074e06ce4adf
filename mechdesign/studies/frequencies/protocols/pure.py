"""Formulas that hold for every pure protocol, those with one ``p`` and one ``q`` (Wang et al., USENIX Security 2017).

The support of item v is a sum over users of independent coins, heads with probability p for the ``n f`` users who hold
v and q for the others. So, given the data,

    Var(estimate) = [f p (1 - p) + (1 - f) q (1 - q)] / (n (p - q)^2).

This is linear in f, so its sum over the k items is the same for all data, k times the variance at ``f = 1/k``: the
total variance, by which protocols tune themselves.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.mechanisms.analysis import require_generator
from mechdesign.studies.frequencies.protocols import arguments
from mechdesign.studies.frequencies.protocols.randomness import Randomness
from mechdesign.values.declare import Counts, Floats


class _Pure(Protocol):
    @property
    def size(self) -> int: ...
    @property
    def p(self) -> float: ...
    @property
    def q(self) -> float: ...


class _PureWithComplement(_Pure, Protocol):
    @property
    def miss(self) -> float: ...


def estimate(self: _Pure, support: ArrayLike, n: int) -> Floats:
    """Unbiased frequencies ``(support / n - q) / (p - q)``."""
    counted, users = arguments.require_support(support, self.size), arguments.require_users(n)
    return np.asarray((counted / users - self.q) / (self.p - self.q))


def variance(self: _Pure, f: ArrayLike, n: int) -> Floats:
    """``[f p (1 - p) + (1 - f) q (1 - q)] / (n (p - q)^2)``."""
    share, users = arguments.require_shares(f, "f"), arguments.require_users(n)
    p, q = self.p, self.q
    return np.asarray((share * (p * (1 - p)) + (1 - share) * (q * (1 - q))) / (users * (p - q) ** 2))


def independent_covariance(self: _Pure, frequencies: ArrayLike, n: int) -> Floats:
    """The covariance matrix where the items of one report are supported independently: diagonal."""
    return np.diag(variance(self, arguments.require_frequencies(frequencies, self.size), n))


def with_pair_covariance(self: _Pure, frequencies: Floats, n: int, own: float, neither: float) -> Floats:
    """The covariance matrix of protocols in which all pairs of items are alike.

    ``own`` and ``neither`` are covariances of two supports in one report, of a user who holds one of the items or not.
    """
    sums = frequencies[:, None] + frequencies[None, :]
    matrix = (sums * own + (1 - sums) * neither) / (n * (self.p - self.q) ** 2)
    np.fill_diagonal(matrix, variance(self, frequencies, n))
    return matrix


def total_variance(size: int, p: Floats | float, q: Floats | float, gap: Floats | float) -> Floats:
    """n times the sum over items of the variances, for ``gap = p - q``; the same for all data.

    >>> round(total_variance(2, 0.75, 0.25, 0.5).item(), 12)
    1.5
    """
    share = 1 / size
    numerator = share * (p * (1 - p)) + (1 - share) * (q * (1 - q))
    return np.asarray(size * numerator / np.square(gap))


def independent_coins(self: _Pure, counts: ArrayLike, rng: np.random.Generator) -> Counts:
    """Supports ``Bin(n_v, p) + Bin(n - n_v, q)``, independent over items."""
    held, generator = arguments.require_counts(counts, self.size), require_generator(rng)
    own = generator.binomial(held, self.p)
    return np.asarray(own + generator.binomial(held.sum() - held, self.q), dtype=np.int64)


def responses(words: NDArray[Any], choices: int, lost: float, source: Randomness) -> NDArray[Any]:
    """Randomised response: each word is kept, or lost with this probability, and then uniform among all choices."""
    # where ``lost`` is below the spacing of draws, a report is random more often, never less
    kept = source.random(words.size) >= lost
    return np.where(kept, words, source.integers(0, choices, words.size, words.dtype.type))


def support_sets(self: _PureWithComplement) -> Floats:
    """``P(exactly these items are supported | item)`` for items supported independently.

    Column s stands for the set whose members are the ones in s written in binary, item 0 the lowest digit.
    """
    arguments.require_channel_size(1 << min(self.size, 64), self.size)
    members = (np.arange(1 << self.size)[:, None] >> np.arange(self.size)) & 1
    others = members.sum(axis=1)[None, :] - members.T
    own = np.where(members.T == 1, self.p, self.miss)
    return np.asarray(own * self.q**others * (1 - self.q) ** (self.size - 1 - others))


def coin_loss(p: float, q: float, miss: float) -> float:
    """``ln [p (1 - q) / (q (1 - p))]``: the loss of independent coins of which two change with the item.

    ``miss`` is ``1 - p`` in full precision.

    >>> round(coin_loss(0.75, 0.25, 0.25), 12) == round(math.log(9), 12)
    True
    """
    return math.log(p / q) + math.log((1 - q) / miss)
