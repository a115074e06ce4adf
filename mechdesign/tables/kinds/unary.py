"""Unary encoding: one bit an item, each drawn on its own, one's own more often 1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import require_one_of
from mechdesign.tables import checker
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.items import Bulk, Coins, Rows, bit_sums, packed, padded, require_few
from mechdesign.tables.kinds.law import Rule
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite

SYMMETRIC, OPTIMISED = "symmetric", "optimised"


@frozen
class UnaryLaw(Coins):
    """The bits are the items'."""

    kind: ClassVar[str] = "unary"
    check = staticmethod(checker.check_unary)
    options: ClassVar[tuple[str, ...]] = ("form",)

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> UnaryLaw | None:
        form = options.get("form", OPTIMISED)
        require_one_of(form, "form", (SYMMETRIC, OPTIMISED))
        require_few(len(domain), "size")
        counts = cls.symmetric(bits, cap) if form == SYMMETRIC else cls.optimised(bits, cap)
        return None if counts is None else cls(domain, bits, **counts)

    @property
    def width(self) -> int:
        return self.count

    @property
    def report_bytes(self) -> int:
        return (self.count + 7) // 8

    @property
    def least_bytes(self) -> int:
        return self.draw_bytes

    def rule(self) -> Rule:
        def report(x: float, stream: Stream) -> bytes:
            return packed(self.bits_of(int(x), stream)).tobytes()

        return report

    def sampler(self) -> Bulk:
        return lambda places: packed(self.all_bits(places))

    def boundaries(self) -> Iterator[Case]:
        for x in self.tried:
            yield from (Case(x, pattern) for pattern in self.patterns(x))

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        return padded(rows, self.count)

    def sums(self, rows: Rows) -> list[int]:
        return list(bit_sums(rows, self.count).tolist())
