"""Hadamard response: an index, more often one at which the row of one's item in its block is +1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.tables import checker, draws
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.items import (
    Bulk,
    Choice,
    Rows,
    bytes_of,
    numbers_of,
    power_of_two,
    require_option,
    rows_of,
)
from mechdesign.tables.kinds.law import Masses, Number, Rule
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Finite


@frozen
class Blocks:
    """``count`` items among ``blocks`` blocks of indices, each with a Hadamard matrix: whatever the chances are.

    Item v is in block ``v mod B`` and has row ``r = v // B + 1`` there; the sign at place z of any block is +1 if
    ``r & z`` has an even number of ones. A block is the least power of two of places above the rows in use.
    """

    count: int
    blocks: int

    @property
    def place_bits(self) -> int:
        """The binary logarithm of the indices of a block."""
        return checker.place_bits(self.count, self.blocks)

    @property
    def columns(self) -> int:
        """How many indices there are."""
        return self.blocks << self.place_bits

    def stand(self, items: Any) -> tuple[Any, Any]:
        """The rows and the blocks of items."""
        return items // self.blocks + 1, items % self.blocks

    def in_half(self, places: Any, rows: Any, parity: Any) -> Any:
        """Where the sign is this one (0 is +1): a digit that the row has set maps the two halves to each other."""
        return np.where(is_odd(places, rows) != parity, places ^ (rows & -rows), places)

    def signed(self, reports: Any) -> Floats:
        """Of each item: how many reports of its block have a +1 in its row, less those with a -1."""
        table = np.array(reports, dtype=np.float64).reshape(self.blocks, -1).T
        step = 1
        while step < len(table):
            pairs = table.reshape(-1, 2, step, self.blocks)
            table = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(table.shape)
            step *= 2
        return np.asarray(table[self.stand(np.arange(self.count))])

    def support(self, reports: Any) -> Floats:
        """Reports, counted by index, support with 1 where the row is +1, 0 where it is -1, 1/2 from another block."""
        return np.asarray((np.sum(reports) + self.signed(reports)) / 2)


def is_odd(places: Any, rows: Any) -> Any:
    """1 where the sign of the row is -1."""
    both = np.asarray(places & rows)
    for half in (32, 16, 8, 4, 2, 1):  # numpy counts bits from version 2 on
        both = both ^ both >> half
    return both & 1


@frozen
class HadamardLaw(Choice):
    """Group ``2 b + parity`` is the half of block b (`Blocks`) with this sign of a row; the place in it is uniform."""

    kind: ClassVar[str] = "hadamard"
    check = staticmethod(checker.check_hadamard)
    options: ClassVar[tuple[str, ...]] = ("blocks",)

    blocks: int

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> HadamardLaw | None:
        blocks = require_option(options, "blocks", 1, 1 << (len(domain) - 1).bit_length())
        counts = cls.counts(2 * power_of_two(blocks, "blocks"), bits, cap)
        return None if counts is None else cls(domain, bits, **counts, blocks=blocks)

    @property
    def groups(self) -> int:
        return 2 * self.blocks

    @property
    def layout(self) -> Blocks:
        """Where items stand."""
        return Blocks(self.count, self.blocks)

    @property
    def place_bits(self) -> int:
        return self.layout.place_bits

    @property
    def size(self) -> int:
        return self.layout.columns

    @property
    def report_bytes(self) -> int:
        return bytes_of(self.size)

    @property
    def least_bytes(self) -> int:
        return self.draw_bytes + (self.place_bits + 7) // 8

    def rule(self) -> Rule:
        layout, bits, size = self.layout, self.place_bits, self.report_bytes

        def report(x: float, stream: Stream) -> bytes:
            row, home = layout.stand(int(x))
            group = self.chosen(2 * home, stream)
            place = int(layout.in_half(stream.draw(bits), row, group & 1))
            return ((group >> 1 << bits) | place).to_bytes(size, "little")

        return report

    def sampler(self) -> Bulk:
        layout, bits, size = self.layout, self.place_bits, self.report_bytes

        def report(items: NDArray[Any]) -> Rows:
            rows, homes = layout.stand(items)
            groups = self.all_chosen(2 * homes).astype(np.int64)
            drawn = draws.draw(bits, items.size).astype(np.int64)
            return rows_of((groups >> 1 << bits) | layout.in_half(drawn, rows, groups & 1), size)

        return report

    def boundaries(self) -> Iterator[Case]:
        last = (1 << self.place_bits) - 1
        for x in self.tried:
            for turn, number in enumerate(self.turns()):
                place = (0, last, 1, last // 3, last - 1)[turn % 5]
                yield Case(x, ((self.bits, number), (self.place_bits, place)))

    def masses(self, x: float, other: float) -> Masses:
        own, each, blocks = self.own, self.other, self.blocks
        if int(x) % blocks != int(other) % blocks:
            left = (self.groups - 2) * each
            return [(own, each), (each, own), (left, left)]
        left = 2 * (self.groups - 2) * each  # two rows of a block agree in half their columns
        return [pair for pair in ((own, own), (own, each), (each, own), (each, each), (left, left)) if pair[0]]

    def dominating(self, ratio: Any) -> Masses:
        """The largest ratio between any two items, as randomised response has it."""
        return [(ratio.numerator, ratio.denominator), (ratio.denominator, ratio.numerator)]

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        return np.asarray(numbers_of(rows) >= self.size)

    def sums(self, rows: Rows) -> list[int]:
        """How often each index was reported."""
        return list(np.bincount(numbers_of(rows).astype(np.intp), minlength=self.size).tolist())

    def support(self, sums: Sequence[int]) -> Floats:
        return self.layout.support(sums)

    def spread(self, sums: Sequence[int], count: int) -> Floats:
        """From inside the block a support is 1/2 off its mean of no information, from outside it is none."""
        inside = np.array(sums, dtype=np.float64).reshape(self.blocks, -1).sum(axis=1)
        share, mean = inside[np.arange(self.count) % self.blocks] / count, self.layout.signed(sums) / (2 * count)
        return np.asarray(share / 4 - mean**2)

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"blocks": self.blocks, "place_bits": self.place_bits}
