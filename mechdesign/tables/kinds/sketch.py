"""Count-mean sketch: the number of a public hash function, and unary encoding of one's hash under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.tables import checker, draws
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.hashing import hash_values, hashed
from mechdesign.tables.kinds.items import (
    Bulk,
    Coins,
    Rows,
    bytes_of,
    numbers_of,
    packed,
    padded,
    parts,
    power_of_two,
    require_option,
    rows_of,
    unpacked,
)
from mechdesign.tables.kinds.law import Number, Rule
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Finite


@frozen
class SketchLaw(Coins):
    """The bits are the ``width`` values of ``XXH64(item; j) mod width``, for a uniform j below ``functions``."""

    kind: ClassVar[str] = "sketch"
    check = staticmethod(checker.check_sketch)
    options: ClassVar[tuple[str, ...]] = ("functions", "buckets")

    functions: int
    buckets: int

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> SketchLaw | None:
        functions = power_of_two(require_option(options, "functions", 2, checker.MOST_FUNCTIONS), "functions")
        buckets = require_option(options, "buckets", 2, checker.MOST_BITS)
        if functions * buckets > checker.MOST_CELLS:
            rule = f"be at most {checker.MOST_CELLS} together"
            raise InvalidInput("functions, buckets", (functions, buckets), rule)
        counts = cls.symmetric(bits, cap)
        return None if counts is None else cls(domain, bits, **counts, functions=functions, buckets=buckets)

    @property
    def width(self) -> int:
        return self.buckets

    @property
    def function_bits(self) -> int:
        return (self.functions - 1).bit_length()

    @property
    def report_bytes(self) -> int:
        return bytes_of(self.functions) + (self.buckets + 7) // 8

    @property
    def least_bytes(self) -> int:
        return (self.function_bits + 7) // 8 + self.draw_bytes

    def rule(self) -> Rule:
        size = bytes_of(self.functions)

        def report(x: float, stream: Stream) -> bytes:
            function = stream.draw(self.function_bits)
            mine = hashed(int(x), function) % self.buckets
            return function.to_bytes(size, "little") + packed(self.bits_of(mine, stream)).tobytes()

        return report

    def sampler(self) -> Bulk:
        def report(places: NDArray[Any]) -> Rows:
            functions = draws.draw(self.function_bits, places.size).astype(np.uint64)
            mine = hash_values(places, functions, self.buckets)
            said = packed(self.all_bits(mine.astype(np.intp)))
            return np.concatenate([rows_of(functions, bytes_of(self.functions)), said], axis=1)

        return report

    def boundaries(self) -> Iterator[Case]:
        for place, x in enumerate(self.tried):
            function = (self.functions - 1, 0, place * 7 % self.functions)[min(place, 2)]
            for pattern in self.patterns(hashed(x, function) % self.buckets):
                yield Case(x, ((self.function_bits, function), *pattern))

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        functions = numbers_of(rows[:, : bytes_of(self.functions)])
        return np.asarray((functions >= self.functions) | padded(rows, self.buckets))

    def sums(self, rows: Rows) -> list[int]:
        """How many reports of each function have each bit."""
        size = bytes_of(self.functions)
        ones = np.zeros((self.functions, self.buckets), dtype=np.int64)
        for part in parts(rows, self.buckets):
            np.add.at(ones, numbers_of(part[:, :size]).astype(np.intp), unpacked(part[:, size:], self.buckets))
        return list(ones.ravel().tolist())

    def support(self, sums: Sequence[int]) -> Floats:
        """Reports that have the bit of the item's hash under their own function."""
        ones = np.array(sums, dtype=np.float64).reshape(self.functions, -1)
        return np.asarray(sum(counted[self._hashes(function)] for function, counted in enumerate(ones)))

    def _hashes(self, function: int) -> NDArray[np.intp]:
        """The bucket of every item under one function."""
        return hash_values(np.arange(self.count), np.array([function]), self.buckets).astype(np.intp)

    def moved(self, shares: Floats) -> Floats:
        """``sum f_u (c_u - 1 / w) / (1 - 1 / w)`` over the other items u; a share c_u of functions collides."""
        found, others = np.zeros(self.count), shares.sum() - shares
        for function in range(self.functions):
            hashes = self._hashes(function)
            found += np.bincount(hashes, weights=shares, minlength=self.buckets)[hashes] - shares
        chance = 1 / self.buckets
        return np.asarray((found / self.functions - others * chance) / (1 - chance))

    @property
    def collisions(self) -> float:
        """Users of one function and item collide together, by chance ``1 / (functions (buckets - 1))``."""
        return 1 / (self.functions * (self.buckets - 1))

    @property
    def shape(self) -> tuple[str, ...]:
        return (*super().shape, "hash")

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"function_bits": self.function_bits, "head": bytes_of(self.functions)}
