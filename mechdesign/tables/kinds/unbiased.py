"""Unbiased windows: an input is randomised between the two rows whose means are next to it."""

from __future__ import annotations

import contextlib
import math
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import chain, pairwise
from typing import ClassVar

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.tables import checker, draws
from mechdesign.tables.checker import Bath, exact_offset
from mechdesign.tables.draws import TOP, Guide
from mechdesign.tables.kinds.cases import Case, Draws, below, inexact, rounded, spread, whole
from mechdesign.tables.kinds.law import Number, Order, Report, Rounded, Rule
from mechdesign.tables.kinds.started import Boundaries, Rows, Started
from mechdesign.tables.rounding import CAP_BITS, coarse, kept
from mechdesign.tables.streams import Stream, bytes_below
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Interval

_MEAN_BITS = 62
_DOUBLE_BITS = 53
_STRETCHES = 60


@frozen
class UnbiasedLaw(Started):
    """Output j is ``offset + units_j 2^-shift``; row i has the mean ``offset + means_i 2^-(shift + bits)``."""

    kind: ClassVar[str] = "unbiased"
    made_from: ClassVar[tuple[type, ...]] = (UnbiasedWindow, TwoPoint)
    check = staticmethod(checker.check_unbiased)

    offset: float
    shift: int
    units: tuple[int, ...]
    means: tuple[int, ...]

    @classmethod
    def made(cls, mechanism: UnbiasedWindow | TwoPoint, order: Order) -> Rounded:
        """Outputs are moved to whole multiples of ``2^-shift`` and stretched about the middle of the inputs until the
        exact means of the rows cover them.

        *Guarantee.* ``E[Y|x] = x`` as rationals for every double x of the inputs, and the likelihood ratio is at most
        c.
        """
        if isinstance(mechanism, TwoPoint):
            points, base = np.array(mechanism.outputs.points), np.array([mechanism.rare] * 2)
        else:
            points, base = mechanism.points, mechanism.base
        return Rounded(_made(mechanism.inputs, points, base, order.bits, order.cap))

    @property
    def scale(self) -> float:
        """Steps of the means in a unit of the inputs."""
        return 2.0 ** (self.shift + self.bits)

    def rule(self) -> Rule:
        output, means, starts, bits = self.output_at(), self.means, self.starts, self.bits
        offset, scale = self.offset, self.scale

        def report(x: float, stream: Stream) -> float:
            mean = stream.whole((x - offset) * scale)
            row = min(bisect_right(means, mean) - 1, len(means) - 2)
            row += stream.below(means[row + 1] - means[row]) < mean - means[row]
            return output(starts[row], stream.draw(bits))

        return report

    def sampler(self) -> Report:
        rows, means = Rows(self), np.array(self.means, dtype=np.int64)
        offset, scale = self.offset, math.ldexp(1.0, self.shift + self.bits)
        least, span = self.means[0], self.means[-1] - self.means[0] + 1
        guide = Guide([mean - least for mean in self.means[:-1]], span, max(0, span.bit_length() - TOP))
        lows, steps = means[:-1].astype(np.float64), np.diff(means).astype(np.float64)

        def report(x: Floats) -> Floats:
            place = (x - offset) * scale
            row = guide.find(np.floor(place).astype(np.int64) - least).astype(np.intp)

            def exact(i: int) -> Fraction:
                low, high = self.means[row[i]], self.means[row[i] + 1]
                return Fraction(Fraction(place[i]) - low, high - low)

            up = draws.happens((place - lows.take(row)) / steps.take(row), exact)
            return rows.report(row + up)

        return report

    @property
    def enough_bytes(self) -> int:
        gaps = {high - low for low, high in pairwise(self.means)}
        return (self.bits + 7) // 8 + 8 + max(map(bytes_below, gaps))

    def boundaries(self) -> Iterator[Case]:
        rows, bits, offset, scale = Boundaries(self), self.bits, self.offset, self.scale
        ways: dict[int, tuple[float, Draws]] = {}
        for i, (low, high) in enumerate(pairwise(self.means)):
            x = self._between(Fraction(low + high, 2))
            value = (x - offset) * scale
            place, gap = rounded(value, up=False), high - low
            share, to_next = whole(value, up=False), place - low
            if not 0 <= to_next < gap:  # no double lies between these means
                continue
            ways[i] = (x, (*share, *below(gap, to_next)))
            if to_next > 0:
                ways[i + 1] = (x, (*share, *below(gap, to_next - 1)))
            differs = (bits, rows.of_later_start(i))
            for chosen in (to_next - 1, to_next, gap - 1):
                if 0 <= chosen < gap:
                    yield Case(x, (*share, *below(gap, chosen), differs))
            yield Case(x, (*share, *below(gap, to_next, rejected=True), differs))
            if inexact(value):
                further = rounded(value, up=True) - low
                yield from (
                    Case(x, (*whole(value, up=True), *below(gap, chosen), differs))
                    for chosen in (further - 1, further)
                    if 0 <= chosen < gap
                )
        reached = sorted(ways)
        ends = ((row, number(row)) for row in reached for number in (rows.of_earlier_start, rows.of_later_start))
        for row, number in chain(ends, rows.chosen(reached)):
            x, drawn = ways[row]
            yield Case(x, (*drawn, (bits, number)))
        yield from self._at_the_ends()

    def _between(self, target: Fraction) -> float:
        """The input of the domain whose place is nearest to the target."""
        lower, upper = self.ends
        return min(max(float(Fraction(self.offset) + target / Fraction(self.scale)), lower), upper)

    def _at_the_ends(self) -> Iterator[Case]:
        """Both ends of the domain, and inputs whose place has many digits after the point."""
        means, bits = self.means, self.bits
        for x in spread(*self.ends):
            value = (x - self.offset) * self.scale
            for up in (False, True) if inexact(value) else (False,):
                place = rounded(value, up=up)
                i = min(max(bisect_right(means, place) - 1, 0), len(means) - 2)
                yield Case(x, (*whole(value, up=up), *below(means[i + 1] - means[i], 0), (bits, 1 << bits - 1)))

    def row(self, x: float) -> Sequence[Fraction]:
        """Between two rows, their mixture with the mean x."""
        means = self.means
        mean = (Fraction(x) - Fraction(self.offset)) * Fraction(2) ** (self.shift + self.bits)
        i = min(bisect_right(means, mean) - 1, len(means) - 2)
        share = (mean - means[i]) / (means[i + 1] - means[i])
        return [(1 - share) * a + share * b for a, b in zip(self.counts(i), self.counts(i + 1), strict=True)]

    def probabilities(self, x: Floats) -> Floats:
        return np.array([self._mixed(float(value)) for value in x])

    def _mixed(self, x: float) -> Floats:
        means = self.means
        place = (x - self.offset) * self.scale
        row = min(max(bisect_right(means, place) - 1, 0), len(means) - 2)
        weight = (place - means[row]) / (means[row + 1] - means[row])
        lower, upper = (np.array([count / self.whole for count in self.counts(i)]) for i in (row, row + 1))
        return np.asarray((1 - weight) * lower + weight * upper)

    def numbers(self) -> dict[str, Number]:
        return super().numbers() | {"means": self.means, "offset": self.offset, "scale": self.scale}


def _made(inputs: Interval, points: Floats, base: Floats, bits: int, cap: int) -> UnbiasedLaw:
    if bits > 32:
        rule = "be 16 or 32 for an unbiased table, whose means must fit in 64 bits"
        raise InvalidInput("bits", bits, rule, "take 32 bits")
    offset = float(exact_offset(Fraction(inputs.lower), Fraction(inputs.upper)))
    outputs, masses, unit = coarse(points, base, bits)
    middle, away = inputs.middle, outputs - inputs.middle
    stretch = 1.0
    for attempt in range(_STRETCHES):
        shift = _shift(offset, middle + away * stretch, bits)
        units = np.rint(np.ldexp((middle - offset) + away * stretch, shift))
        merged, where = np.unique(units, return_inverse=True)
        joined = [0] * merged.size
        for mass, at in zip(masses, where.tolist(), strict=True):
            joined[at] += mass
        left, counts, caps = kept(joined, unit, bits, cap)
        numbers = [int(merged[j]) for j in left]
        starts, means = _rows(Bath({"base": counts, "caps": caps}, [Fraction(n) for n in numbers], 1 << bits, cap))
        ends = [
            (Fraction(end) - Fraction(offset)) * Fraction(2) ** (shift + bits) for end in (inputs.lower, inputs.upper)
        ]
        if means[0] <= ends[0] and ends[1] <= means[-1]:
            first = max(i for i, mean in enumerate(means) if mean <= ends[0])
            last = min(i for i, mean in enumerate(means) if mean >= ends[1])
            return UnbiasedLaw(
                domain=inputs,
                bits=bits,
                outputs=tuple(offset + math.ldexp(n, -shift) for n in numbers),
                base=tuple(counts),
                caps=tuple(caps),
                starts=tuple(starts[first : last + 1]),
                offset=offset,
                shift=shift,
                units=tuple(numbers),
                means=tuple(means[first : last + 1]),
            )
        at = (Fraction(middle) - Fraction(offset)) * Fraction(2) ** (shift + bits)
        reach = [abs(float((mean - at) / (end - at))) for mean, end in zip((means[0], means[-1]), ends, strict=True)]
        if not min(reach) > 0.1:
            break
        stretch = stretch / min(1.0, *reach) * (1 + 2.0 ** (attempt - 50))
    raise InvalidInput("bits", bits, f"give means that cover {inputs}", _wider(inputs, points, base, bits, cap))


def _wider(inputs: Interval, points: Floats, base: Floats, bits: int, cap: int) -> str:
    """What makes means cover the inputs: tried, where it can be."""
    if bits < 32:
        with contextlib.suppress(InvalidInput):
            _made(inputs, points, base, 32, cap)
            return "take 32 bits"
    return "take a larger eps" if cap < 2 << CAP_BITS else "take a smaller eps or fewer outputs"


def _rows(bath: Bath) -> tuple[list[int], list[int]]:
    """The starts at which the law changes, and the means of their rows, in units of ``2^-(shift + bits)``."""
    starts: list[int] = []
    means: list[int] = []
    for start in [0, *(start for start, _, _ in bath.moves())]:
        mean = int(bath.moments(start)[0] * bath.whole)
        if not means or mean != means[-1]:
            starts.append(start)
            means.append(mean)
    return starts, means


def _shift(offset: float, points: Floats, bits: int) -> int:
    """The finest grid of outputs on which means stay below 2^62 and every output is a double."""
    reach = float(np.abs(points - offset).max())
    far = float(np.abs(points).max())
    shift = min(_MEAN_BITS - bits - 1 - math.frexp(reach)[1], _DOUBLE_BITS - 1 - math.frexp(far)[1])
    if shift + bits < 0:
        step = "rescale the data, or take a larger eps: the smaller it is, the farther outputs lie"
        raise InvalidInput("outputs", reach, "lie below 2^60 in an unbiased table", step)
    return min(shift, 1000 - bits)
