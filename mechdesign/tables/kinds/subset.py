"""Subset selection: a set of d items, which holds one's own more often than any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.tables import checker, draws
from mechdesign.tables.kinds.cases import Case, Draws, below
from mechdesign.tables.kinds.items import (
    Bulk,
    ItemsLaw,
    Rows,
    bit_sums,
    packed,
    padded,
    parts,
    require_few,
    require_option,
    unpacked,
)
from mechdesign.tables.kinds.law import Masses, Number, Rule
from mechdesign.tables.rounding import CAP_BITS
from mechdesign.tables.streams import Stream, bytes_below
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite

_AT_ONCE = 1 << 21
_KEY_BITS = 32
_LAST_KEY = (1 << 62) - 1


@frozen
class SubsetLaw(ItemsLaw):
    """``own`` counts of ``own + other = 2^bits`` say that one's own item is in the set; the others in it are uniform.

    They are the first of a random order of the other items, of which as many are drawn whether or not one's own is in.
    """

    kind: ClassVar[str] = "subset"
    check = staticmethod(checker.check_subset)
    options: ClassVar[tuple[str, ...]] = ("subset",)

    own: int
    other: int
    subset: int

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> SubsetLaw | None:
        count = len(domain)
        subset = require_option(options, "subset", 1, count - 1)
        require_few(count, "size")
        least = (count - subset) << CAP_BITS
        own = (cap * subset << bits) // (least + cap * subset)  # own (k - d) <= c other d
        other = (1 << bits) - own
        return cls(domain, bits, own, other, subset) if other > 0 and own * (count - subset) > other * subset else None

    @property
    def report_bytes(self) -> int:
        return (self.count + 7) // 8

    @property
    def least_bytes(self) -> int:
        rest = range(self.count - 1, self.count - 1 - self.subset, -1)
        return (self.bits + 7) // 8 + sum(((left - 1).bit_length() + 7) // 8 for left in rest)

    @property
    def enough_bytes(self) -> int:
        rest = range(self.count - 1, self.count - 1 - self.subset, -1)
        return (self.bits + 7) // 8 + sum(map(bytes_below, rest))

    def rule(self) -> Rule:
        count, subset, own, bits = self.count, self.subset, self.own, self.bits

        def report(x: float, stream: Stream) -> bytes:
            held = int(x)
            holds = stream.draw(bits) < own
            others = [*range(held + 1, count), *range(held)]
            for place in range(subset):
                chosen = place + stream.below(count - 1 - place)
                others[place], others[chosen] = others[chosen], others[place]
            found = np.zeros(count, dtype=np.bool_)
            found[others[: subset - holds]] = True
            found[held] = holds
            return packed(found).tobytes()

        return report

    def sampler(self) -> Bulk:
        def report(places: NDArray[Any]) -> Rows:
            found = np.zeros((places.size, self.report_bytes), dtype=np.uint8)
            for start in range(0, places.size, step := max(1, _AT_ONCE // self.count)):
                found[start : start + step] = self._sets(places[start : start + step])
            return found

        return report

    def _sets(self, places: NDArray[Any]) -> Rows:
        """The items with the least keys, which are random and different: where two are one, all of a row are anew."""
        rows, holds = np.arange(places.size), draws.draw(self.bits, places.size) < self.own
        keys = np.empty((places.size, self.count), dtype=np.int64)
        late = rows
        while late.size:
            keys[late] = draws.draw(_KEY_BITS, late.size * self.count).reshape(late.size, -1)
            keys[late, places[late]] = np.where(holds[late], -1, _LAST_KEY)
            order = np.partition(keys[late], (self.subset - 1, self.subset), axis=1)
            late = late[order[:, self.subset - 1] == order[:, self.subset]]
        least = np.partition(keys, self.subset - 1, axis=1)[:, self.subset - 1]
        return packed(keys <= least[:, None])

    def boundaries(self) -> Iterator[Case]:
        for x in self.tried:
            for held in (self.own - 1, self.own):
                for places in (self._first, self._last, self._middle, self._refused):
                    yield Case(x, ((self.bits, held), *places()))

    def _left(self) -> range:
        return range(self.count - 1, self.count - 1 - self.subset, -1)

    def _first(self) -> Draws:
        return tuple(drawn for left in self._left() for drawn in below(left, 0))

    def _last(self) -> Draws:
        return tuple(drawn for left in self._left() for drawn in below(left, left - 1))

    def _middle(self) -> Draws:
        return tuple(drawn for left in self._left() for drawn in below(left, left // 2))

    def _refused(self) -> Draws:
        return tuple(drawn for left in self._left() for drawn in below(left, left // 3, rejected=True))

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        sizes = np.concatenate(
            [unpacked(part, self.count).sum(axis=1) for part in parts(rows, self.count)] or [rows[:, 0]]
        )
        return np.asarray(padded(rows, self.count) | (sizes != self.subset))

    def sums(self, rows: Rows) -> list[int]:
        return list(bit_sums(rows, self.count).tolist())

    def masses(self, x: float, other: float) -> Masses:
        d, k = self.subset, self.count
        one, two = self.own * (k - d), self.other * d
        both, none = self.own * (d - 1), self.other * (k - 1 - d)
        return [(a, b) for a, b in ((one, two), (two, one), (both, both), (none, none)) if a]

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"own": self.own, "subset": self.subset}
