"""Piecewise densities: equal cells, a window of them heavier than the rest."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.tables import checker
from mechdesign.tables.draws import placed
from mechdesign.tables.kinds.cases import Case, below, spread, turns
from mechdesign.tables.kinds.law import (
    Masses,
    Moments,
    Number,
    Order,
    Reading,
    Report,
    Rounded,
    Rule,
    Spread,
    grid_moments,
    power_sums,
)
from mechdesign.tables.rounding import CAP_BITS, too_few_bits
from mechdesign.tables.streams import Stream, bytes_below
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Circle, Interval

VECTOR_UNIT = 1 << 40
"""Cosines are summed in these parts of 1."""

_CELL_BITS = 32
_PLACE_BITS = 50


@frozen
class PiecesLaw(Spread):
    """``inside`` of ``cells`` equal cells share ``weight`` counts, the others the rest.

    Cell i has its centre at ``(first + i + 1/2) step``; the window of x begins at cell ``floor((x - anchor) scale)``,
    wrapped on a circle and clipped on an interval.
    """

    kind: ClassVar[str] = "pieces"
    made_from: ClassVar[tuple[type, ...]] = (Piecewise,)
    check = staticmethod(checker.check_pieces)

    cells: int
    inside: int
    weight: int
    first: int
    step: float
    anchor: float
    scale: float

    @classmethod
    def made(cls, mechanism: Piecewise, order: Order) -> Rounded:
        """The window covers the nearest whole number of cells and gets the weight nearest to its own that keeps the
        ratio.

        *Guarantee.* Every cell has one of two probabilities, whose ratio is at most c, whatever the input.
        """
        window, outputs, bits, cap = mechanism.window, mechanism.outputs, order.bits, order.cap
        if not isinstance(window, AffineWindow):
            raise InvalidInput("mechanism", mechanism.name, "have windows of one interval to become a table")
        far = max(abs(outputs.lower), abs(outputs.upper)) / outputs.length
        cells = 1 << min(_CELL_BITS, _PLACE_BITS - math.frexp(far)[1])
        width = mechanism.exact_width()
        inside = min(max(round(width / Fraction(outputs.length) * cells), 1), cells - 1)
        weight = _weight(Fraction(mechanism.high) * width, inside, cells, 1 << bits, cap)
        if weight is None:
            raise too_few_bits(bits, lambda more: _weight(Fraction(0), inside, cells, 1 << more, cap) is not None)
        step = outputs.length / cells
        cell = Fraction(step)
        slope, pivot = Fraction(window.slope), Fraction(window.pivot)
        first_centre = Fraction(outputs.lower) + inside * cell / 2
        # the input whose window starts half a cell before the first cell, so that rounding down rounds to the nearest
        anchor = pivot - (pivot + Fraction(window.offset) - first_centre + cell / 2) / slope
        law = cls(
            domain=mechanism.inputs,
            bits=bits,
            clamp=ends_of(order.clamp),
            cells=cells,
            inside=inside,
            weight=weight,
            first=0 if isinstance(outputs, Circle) else round(Fraction(outputs.lower) / cell),
            step=step,
            anchor=float(anchor),
            scale=float(slope / cell),
        )
        return Rounded(law)

    @property
    def size(self) -> int:
        return self.cells

    @property
    def is_circle(self) -> bool:
        return isinstance(self.domain, Circle)

    def start(self, x: float) -> int:
        """The first cell of the window, in doubles as FORMAT.md has it."""
        start = math.floor((x - self.anchor) * self.scale)
        return start % self.cells if self.is_circle else min(max(start, 0), self.cells - self.inside)

    def centre(self, cell: int) -> float:
        return (self.first + cell + 0.5) * self.step

    def rule(self) -> Rule:
        cells, inside, weight, bits = self.cells, self.inside, self.weight, self.bits

        def report(x: float, stream: Stream) -> float:
            hit = stream.draw(bits) < weight
            place = stream.below(inside) if hit else inside + stream.below(cells - inside)
            return self.clamped(self.centre((self.start(x) + place) % cells))

        return report

    def sampler(self) -> Report:
        cells, inside, first, is_circle = self.cells, self.inside, self.first, self.is_circle
        anchor, scale, step = self.anchor, self.scale, self.step
        places = placed(Fraction(self.weight, self.whole), inside, cells)

        def report(x: Floats) -> Floats:
            start = np.floor((x - anchor) * scale)
            start = _wrapped(start, cells) if is_circle else np.minimum(np.maximum(start, 0), cells - inside)
            cell = _wrapped(start + places(x.size), cells)
            return self.all_clamped(np.asarray((first + cell + 0.5) * step))

        return report

    @property
    def enough_bytes(self) -> int:
        return (self.bits + 7) // 8 + max(map(bytes_below, (self.inside, self.cells - self.inside)))

    def boundaries(self) -> Iterator[Case]:
        cells, inside, weight, bits = self.cells, self.inside, self.weight, self.bits
        outside = cells - inside
        for x in [*spread(*self.ends), *turns(*self.ends, lambda x: (x - self.anchor) * self.scale)]:
            wraps = (number - self.start(x) - inside for number in (cells - 1, cells))
            hits = ((below(inside, number), weight - 1) for number in (0, inside // 2, inside - 1))
            misses = (0, outside // 2, outside - 1, *(number for number in wraps if 0 <= number < outside))
            yield from (Case(x, ((bits, number), *drawn)) for drawn, number in hits)
            yield from (Case(x, ((bits, weight), *below(outside, number))) for number in misses)
        yield Case(x, ((bits, 0), *below(inside, inside - 1, rejected=True)))
        yield Case(x, ((bits, self.whole - 1), *below(outside, outside - 1, rejected=True)))

    def masses(self, x: float, other: float) -> Masses:
        """Stretches of cells on which both laws are constant; cells that a clamp sends to one end are one output."""
        return self._masses(self.start(x), self.start(other), self._within_clamp())

    def dominating(self, ratio: Fraction) -> Masses:
        """The two windows that overlap least are attained and dominate, since delta grows as overlap shrinks."""
        return self._masses(0, self.cells - self.inside, (0, self.cells))

    def _masses(self, start: int, other: int, ends: tuple[int, int]) -> Masses:
        cells, inside = self.cells, self.inside
        low, high = (self.whole - self.weight) * inside, self.weight * (cells - inside)
        edges = {(place + w) % cells for place in (start, other) for w in (0, inside)}
        masses: dict[int, list[int]] = {}
        for a, b in pairwise(sorted({0, cells, *ends, *edges})):
            output = 0 if b <= ends[0] else ends[1] if a >= ends[1] else a
            both = masses.setdefault(output, [0, 0])
            for side, place in enumerate((start, other)):
                both[side] += (b - a) * (high if (a - place) % cells < inside else low)
        return [(a, b) for a, b in masses.values()]

    def _within_clamp(self) -> tuple[int, int]:
        """How many cells a clamp sends to its lower end, and the first it sends to its upper end."""
        if self.clamp is None:
            return 0, self.cells
        low, high = self.clamp
        cells = range(self.cells)
        return bisect_right(cells, low, key=self.centre), bisect_left(cells, high, key=self.centre)

    def reading(self) -> Reading:
        first, cells, step = self.first, self.cells, self.step

        def find(reports: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            places, wrong = np.zeros(reports.size), np.ones(reports.size, dtype=np.bool_)
            with np.errstate(over="ignore", invalid="ignore"):
                near = np.rint(reports / step - first - 0.5)
                for cell in (near, near - 1, near + 1):  # far from 0 the quotient is right to one cell only
                    right = ((first + cell + 0.5) * step == reports) & (cell >= 0) & (cell < cells)
                    places[right] = cell[right]
                    wrong &= ~right
            return places, wrong

        return Reading(find, self._vector_sums if self.is_circle else power_sums)

    def _vector_sums(self, places: NDArray[Any]) -> list[int]:
        """The sums of the cosine and sine of the angle and of its double, each rounded to 2^-40."""
        angles = (places + 0.5) * (math.tau / self.cells)
        waves = (np.cos(angles), np.sin(angles), np.cos(2 * angles), np.sin(2 * angles))
        return [int(np.rint(wave * VECTOR_UNIT).astype(np.int64).sum()) for wave in waves]

    def moments(self, sums: Sequence[int], count: int) -> Moments:
        step = Fraction(self.step)
        origin = (self.first + Fraction(1, 2)) * step
        return *grid_moments(origin, step, sums, count), (origin, origin + (self.cells - 1) * step)

    def shrinkage(self, name: str) -> float:
        """What a mean unit vector on a circle is multiplied by: ``g sin(pi w / N) / (w sin(pi / N))``.

        g is the share of the window beyond that of as many cells, w its cells of N.
        """
        cells, inside = self.cells, self.inside
        gain = (Fraction(self.weight, self.whole) * cells - inside) / (cells - inside)
        if not gain:
            raise InvalidInput("table", name, "have windows of more than their share of weight", "take a larger eps")
        return float(gain / inside) * math.sin(math.pi * inside / cells) / math.sin(math.pi / cells)

    def reach(self, first: float, last: float, rare: float) -> tuple[float, float]:
        if self.clamp is not None:
            return self.clamp
        return self.first * self.step, (self.first + self.cells) * self.step

    def cdf(self, x: Floats, y: Floats) -> Floats:
        cells, inside, heavy = self.cells, self.inside, self.weight / self.whole
        place = np.floor((x - self.anchor) * self.scale)
        start = np.mod(place, cells) if self.is_circle else np.clip(place, 0, cells - inside)
        upto = np.clip(np.floor(y / self.step - self.first + 0.5), 0, cells)[None, :]  # cells with centres at most y
        start = start[:, None]
        hit = np.clip(upto - start, 0, inside) + np.clip(upto - start + cells, 0, inside) * (start + inside > cells)
        hit -= np.where(start + inside > cells, np.clip(cells - start, 0, inside), 0)
        return np.asarray(heavy * hit / inside + (1 - heavy) * (upto - hit) / (cells - inside))

    def numbers(self) -> dict[str, Number]:
        names = ("cells", "inside", "weight", "first", "step", "anchor", "scale")
        return {name: getattr(self, name) for name in names} | {"outside": self.cells - self.inside}

    @property
    def shape(self) -> tuple[str, ...]:
        return ("circle", *super().shape) if self.is_circle else super().shape


def ends_of(clamp: Interval | None) -> tuple[float, float] | None:
    """The ends of a clamp, if there is one."""
    return None if clamp is None else (clamp.lower, clamp.upper)


def _weight(share: Fraction, inside: int, cells: int, whole: int, cap: int) -> int | None:
    """The count of the window nearest to its share: ``P (N - w) <= c (D - P) w``, and more than w cells of N have."""
    most = cap * inside * whole // (((cells - inside) << CAP_BITS) + cap * inside)
    least = inside * whole // cells + 1
    return None if most < least else min(max(round(whole * share), least), most)


def _wrapped(places: Floats, cells: int) -> Floats:
    """``places`` modulo ``cells``: whole numbers below 2^53, for which the quotient cannot round up to the next."""
    return np.asarray(places - np.floor(places / cells) * cells)
