"""Windows: an input has the row of its nearest threshold, in which the outputs nearest to it have their caps."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import ClassVar

import numpy as np

from mechdesign.mechanisms.window import Window
from mechdesign.tables import checker
from mechdesign.tables.checker import Bath, floor_double
from mechdesign.tables.draws import Turns
from mechdesign.tables.kinds.cases import Case
from mechdesign.tables.kinds.law import Number, Order, Report, Rounded, Rule
from mechdesign.tables.kinds.started import Boundaries, Rows, Started
from mechdesign.tables.rounding import coarse, kept, means_of
from mechdesign.tables.streams import Stream
from mechdesign.values.declare import Floats, frozen

_FEW_OUTPUTS = 64  # up to here outputs stay where the design has them


@frozen
class WindowLaw(Started):
    """The row of an input is how many of the ``thresholds`` are below it."""

    kind: ClassVar[str] = "window"
    made_from: ClassVar[tuple[type, ...]] = (Window,)
    check = staticmethod(checker.check_window)

    thresholds: tuple[float, ...]

    @classmethod
    def made(cls, mechanism: Window, order: Order) -> Rounded:
        """The outputs nearest to the input are filled from their counts to their caps.

        Many outputs are moved to the means of the stretches of the base that their counts stand for: errors of rounding
        are then of second order. Few outputs stay where they are.

        *Guarantee.* Every count lies between ``n_j`` and ``floor(c n_j)`` with ``c = cap / 2^96``, and rows sum to
        ``2^bits``: the likelihood ratio is at most c.
        """
        inputs, bits, cap = mechanism.inputs, order.bits, order.cap
        places, masses, unit = coarse(mechanism.points, mechanism.base, bits)
        left, counts, caps = kept(masses, unit, bits, cap)
        outputs = places[left]
        if len(left) > _FEW_OUTPUTS:
            means = means_of(places, masses, counts)
            outputs = means if (np.diff(means) > 0).all() else outputs
        values = [Fraction(value) for value in outputs.tolist()]
        bath = Bath({"base": counts, "caps": caps}, values, 1 << bits, cap)
        starts, thresholds = [0], []
        for start, first, last in bath.moves():
            turn = (values[first] + values[last]) / 2
            if turn >= inputs.upper:
                break
            if turn < inputs.lower:
                starts = [start]
            else:
                starts.append(start)
                thresholds.append(float(floor_double(turn)))
        lists = (outputs.tolist(), counts, caps, starts, thresholds)
        return Rounded(cls(inputs, bits, *map(tuple, lists)))

    def rule(self) -> Rule:
        output, thresholds, starts, bits = self.output_at(), self.thresholds, self.starts, self.bits

        def report(x: float, stream: Stream) -> float:
            return output(starts[bisect_left(thresholds, x)], stream.draw(bits))

        return report

    def sampler(self) -> Report:
        rows = Rows(self)
        turns = Turns(np.array(self.thresholds), self.domain.lower, self.domain.upper)

        def report(x: Floats) -> Floats:
            if x.strides == (0,):  # one input many times
                return rows.report(np.broadcast_to(turns.count(x[:1]), x.shape))
            return rows.report(turns.count(x))

        return report

    @property
    def enough_bytes(self) -> int:
        return (self.bits + 7) // 8

    def boundaries(self) -> Iterator[Case]:
        rows, bits = Boundaries(self), self.bits
        lower, upper = self.ends
        inputs = {}
        for row, (low, high) in enumerate(pairwise([-math.inf, *self.thresholds, math.inf])):
            if low < high:
                inputs[row] = (max(math.nextafter(low, math.inf), lower), min(high, upper))
        for row, (first, last) in inputs.items():
            yield Case(first, ((bits, rows.of_earlier_start(row)),))
            yield Case(last, ((bits, rows.of_later_start(row)),))
        for turn, (row, number) in enumerate(rows.chosen(list(inputs))):
            yield Case(inputs[row][turn % 2], ((bits, number),))

    def row(self, x: float) -> Sequence[Fraction]:
        return [Fraction(count) for count in self.counts(bisect_left(self.thresholds, x))]

    def probabilities(self, x: Floats) -> Floats:
        rows = np.searchsorted(np.array(self.thresholds), x).tolist()
        return np.array([[count / self.whole for count in self.counts(row)] for row in rows])

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"thresholds": self.thresholds}
