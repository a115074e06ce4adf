"""Randomised response over k items: the report is an item, one's own more often than any other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.tables import checker
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.items import Bulk, Choice, Rows, bytes_of, numbers_of, rows_of
from mechdesign.tables.kinds.law import Rule
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Finite


@frozen
class ResponseLaw(Choice):
    """The groups are the items."""

    kind: ClassVar[str] = "response"
    check = staticmethod(checker.check_response)

    @classmethod
    def fitted(cls, domain: Finite, options: Mapping[str, Any], bits: int, cap: int) -> ResponseLaw | None:
        counts = cls.counts(len(domain), bits, cap)
        return None if counts is None else cls(domain, bits, **counts)

    @property
    def groups(self) -> int:
        return self.count

    @property
    def size(self) -> int:
        return self.count

    @property
    def report_bytes(self) -> int:
        return bytes_of(self.count)

    @property
    def least_bytes(self) -> int:
        return self.draw_bytes

    def rule(self) -> Rule:
        size = self.report_bytes

        def report(x: float, stream: Stream) -> bytes:
            return self.chosen(int(x), stream).to_bytes(size, "little")

        return report

    def sampler(self) -> Bulk:
        return lambda places: rows_of(self.all_chosen(places), self.report_bytes)

    def boundaries(self) -> Iterator[Case]:
        for x in self.tried:
            yield from (Case(x, ((self.bits, number),)) for number in self.turns())

    def wrong(self, rows: Rows) -> NDArray[np.bool_]:
        return np.asarray(numbers_of(rows) >= self.count)

    def sums(self, rows: Rows) -> list[int]:
        counted: Sequence[int] = np.bincount(numbers_of(rows).astype(np.intp), minlength=self.count).tolist()
        return list(counted)
