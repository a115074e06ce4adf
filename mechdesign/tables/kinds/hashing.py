"""Local hashing: a seed, and randomised response on the hash of one's item under it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.tables import checker, draws
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.items import Bulk, Choice, Rows, bytes_of, numbers_of, require_option, rows_of
from mechdesign.tables.kinds.law import Number, Rule
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Counts, frozen
from mechdesign.values.xxh64 import Words, xxh64
from mechdesign.words.domains import Finite

Hash = Callable[[NDArray[Any], NDArray[Any]], Words]

_SEED_BYTES = 8
_AT_ONCE = 1 << 15  # hashes that stay in the cache
_SEEDS = (0, (1 << 64) - 1, 0x9E3779B97F4A7C15)


@frozen
class HashingLaw(Choice):
    """The groups are the values of ``XXH64(item; seed) mod hashes``.

    The seed is 64 bits, drawn first and reported first.
    """

    kind: ClassVar[str] = "hashing"
    check = staticmethod(checker.check_hashing)
    options: ClassVar[tuple[str, ...]] = ("hashes",)

    hashes: int

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> HashingLaw | None:
        hashes = require_option(options, "hashes", 2, checker.MOST_HASHES)
        counts = cls.counts(hashes, bits, cap)
        return None if counts is None else cls(domain, bits, **counts, hashes=hashes)

    @property
    def groups(self) -> int:
        return self.hashes

    @property
    def report_bytes(self) -> int:
        return _SEED_BYTES + bytes_of(self.hashes)

    @property
    def least_bytes(self) -> int:
        return _SEED_BYTES + self.draw_bytes

    def rule(self) -> Rule:
        size = bytes_of(self.hashes)

        def report(x: float, stream: Stream) -> bytes:
            seed = stream.draw(64)
            mine = hashed(int(x), seed) % self.hashes
            return seed.to_bytes(_SEED_BYTES, "little") + self.chosen(mine, stream).to_bytes(size, "little")

        return report

    def sampler(self) -> Bulk:
        size = bytes_of(self.hashes)

        def report(places: NDArray[Any]) -> Rows:
            seeds = draws.draw(64, places.size).astype(np.uint64)
            said = self.all_chosen(hash_values(places, seeds, self.hashes))
            return np.concatenate([rows_of(seeds, _SEED_BYTES), rows_of(said, size)], axis=1)

        return report

    def boundaries(self) -> Iterator[Case]:
        for place, x in enumerate(self.tried):
            for seed in _SEEDS if place == 0 else (x * _SEEDS[-1] % (1 << 64),):
                yield from (Case(x, ((64, seed), (self.bits, number))) for number in self.turns())

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        return np.asarray(numbers_of(rows[:, _SEED_BYTES:]) >= self.hashes)

    def sums(self, rows: Rows) -> list[int]:
        seeds, said = numbers_of(rows[:, :_SEED_BYTES]), numbers_of(rows[:, _SEED_BYTES:])
        return list(agreements(np.arange(self.count), seeds, said, self.hashes).tolist())

    @property
    def shape(self) -> tuple[str, ...]:
        return (*super().shape, "hash")

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"hash_bytes": bytes_of(self.hashes)}


def hashed(item: int, seed: int) -> int:
    """XXH64 of the item as eight bytes, little-endian.

    >>> hex(hashed(7, 2025))
    '0x5649c65c1f1e763f'
    """
    return int(xxh64(np.array([item], dtype=np.uint64), np.array([seed], dtype=np.uint64))[0])


def hash_values(numbers: NDArray[Any], seeds: NDArray[Any], hashes: int, hash: Hash = xxh64) -> Words:
    """``XXH64(number; seed) mod hashes`` of many, or another hash of them."""
    return np.asarray(hash(numbers, seeds) % np.uint64(hashes))


def agreements(numbers: NDArray[Any], seeds: Words, said: Words, hashes: int, hash: Hash = xxh64) -> Counts:
    """With how many reports, of a seed and a hash value each, the hash of each number agrees."""
    total = np.zeros(numbers.size, dtype=np.int64)
    for start in range(0, seeds.size, _AT_ONCE):
        some, values = seeds[start : start + _AT_ONCE], said[start : start + _AT_ONCE]
        for first in range(0, numbers.size, step := max(1, _AT_ONCE // some.size)):
            agree = hash_values(numbers[first : first + step, None], some, hashes, hash) == values
            total[first : first + step] += agree.sum(axis=1)
    return total
