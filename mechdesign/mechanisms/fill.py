"""Laws between a base measure and a multiple of it: a stretch of the cumulative base is topped up, the rest is not.

Both window mechanisms are of this form; they differ in where the stretch starts for an input. `Fill` is the form in
doubles, `ExactFill` in whole numbers. `filled` is the same where the outputs have another order for every input.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.mechanisms import analysis
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Finite, Interval
from mechdesign.words.losses import Loss

Floats = NDArray[np.float64]
Place = int | Fraction

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """``base`` everywhere and ``ratio * base`` on a stretch of ``length`` along the ``cumulative`` base.

    Methods take the start of the stretch, one for each input. A total of one makes the length ``E / (ratio - 1)`` with
    ``E = 1 - sum(base)``.

    >>> fill = Fill.over(np.array([0.25, 0.75]), np.array([0.25, 0.25]), 3.0)
    >>> fill.rows(np.array([0.0, 0.125])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    points: Floats
    base: Floats
    ratio: float
    cumulative: Floats
    length: float

    @classmethod
    def over(cls, points: Floats, base: Floats, ratio: float) -> Fill:
        """The fill of increasing ``points`` with positive masses ``base``."""
        cumulative = np.concatenate([[0.0], np.cumsum(base)])
        total = float(cumulative[-1])
        return cls(points, base, ratio, cumulative, min(length_of(total, ratio), total))

    @property
    def last(self) -> float:
        """The last place where the stretch may start."""
        return float(self.cumulative[-1]) - self.length

    def rows(self, start: Floats) -> Floats:
        """The probabilities of all outputs, one more axis than ``start``."""
        spans = self._spans(self.cumulative[:-1], self.cumulative[1:], start[..., None])
        return np.asarray(self.base + (self.ratio - 1) * spans)

    def mass(self, y: ArrayLike, start: Floats) -> Floats:
        """The probability of exactly ``y``."""
        outputs = analysis.require_outputs(y)
        column = np.minimum(np.searchsorted(self.points, outputs), self.points.size - 1)
        spans = self._spans(self.cumulative[column], self.cumulative[column + 1], start)
        return np.where(self.points[column] == outputs, self.base[column] + (self.ratio - 1) * spans, 0.0)

    def _spans(self, first: Floats, last: Floats, start: Floats) -> Floats:
        """What the stretch covers of the cumulative base from ``first`` to ``last``."""
        spans = np.minimum(last, start + self.length)
        spans -= np.maximum(first, start)
        return np.maximum(spans, 0.0)

    def cdf(self, y: ArrayLike, start: Floats) -> Floats:
        """The probability of outputs up to ``y``."""
        return self._upto(np.searchsorted(self.points, analysis.require_outputs(y), side="right"), start)

    def _upto(self, count: NDArray[np.intp], start: Floats) -> Floats:
        """The probability of the first ``count`` outputs."""
        reached = self.cumulative[count]
        covered = np.minimum(np.maximum(reached - start, 0.0), self.length)
        return np.where(count >= self.points.size, 1.0, np.minimum(reached + (self.ratio - 1) * covered, 1.0))

    def quantile(self, u: ArrayLike, start: Floats) -> Floats:
        """The least output whose `cdf` reaches ``u``."""
        probabilities, start = np.broadcast_arrays(analysis.require_probabilities(u), start)
        # along the cumulative base the law has slope 1, then ratio on the stretch, then 1 again
        beyond = probabilities - (self.ratio - 1) * self.length
        inside = start + (probabilities - start) / self.ratio
        place = np.where(probabilities <= start, probabilities, np.where(beyond < start + self.length, inside, beyond))
        most = self.points.size - 1
        position = np.minimum(np.searchsorted(self.cumulative[1:], place, side="left"), most)
        # rounding may have moved the place across the end of an output
        position = np.where((position > 0) & (self._upto(position, start) >= probabilities), position - 1, position)
        position = np.where(self._upto(position + 1, start) < probabilities, position + 1, position)
        return np.asarray(self.points[np.minimum(position, most)])

    def expectation(self, x: Floats, start: Floats, costs: Callable[[Floats], Floats]) -> Floats:
        """The expected cost at each input; ``costs`` maps inputs to one more axis, over the outputs."""
        inputs, starts = x.reshape(-1), start.reshape(-1)
        step = max(1, _BLOCK // self.points.size)
        blocks = [slice(k, k + step) for k in range(0, inputs.size, step)]
        parts = [np.sum(self.rows(starts[block]) * costs(inputs[block]), axis=-1) for block in blocks]
        return np.concatenate(parts).reshape(x.shape) if parts else np.empty(x.shape)

    def moment(self, x: Floats, start: Floats, order: int) -> Floats:
        """``E[Y^order]`` at each input."""
        values = self.points ** analysis.require_order(order)
        return self.expectation(x, start, lambda inputs: np.broadcast_to(values, (*inputs.shape, values.size)))


class Stretch(NamedTuple):
    """A place of the stretch on the line of gains: where it starts and stops, and the outputs that hold the ends."""

    start: int
    stop: int
    first: int
    last: int


class ExactFill(NamedTuple):
    """The same without rounding, in multiples of ``1 / unit``.

    An output has ``one`` times its mass as base, and gains up to ``more`` times its mass: ``more / one = ratio - 1``.
    Laid end to end the gains reach from ``reached[j]`` to ``reached[j + 1]`` for output j. The topped-up part is a
    stretch of this line as long as what the base leaves of one, ``extra``.

    >>> fill = ExactFill.over(np.array([0.25, 0.25]), 3.0)
    >>> [str(mass) for start in (0, fill.unit // 4) for mass in fill.row(start)]
    ['3/4', '1/4', '1/2', '1/2']
    """

    masses: list[int]
    one: int
    more: int
    reached: list[int]
    extra: int
    unit: int

    @classmethod
    def over(cls, base: Floats, ratio: float) -> ExactFill:
        """The fill of positive masses ``base``, whose sum is at most 1 and at least ``1 / ratio``."""
        masses, shift = dyadic(base)
        (top,), digits = dyadic([ratio])
        one = 1 << digits
        more, unit = top - one, one << shift
        reached = [more * mass for mass in accumulate(masses, initial=0)]
        return cls(masses, one, more, reached, unit - one * sum(masses), unit)

    @property
    def base(self) -> list[int]:
        """What every law has at least."""
        return [self.one * mass for mass in self.masses]

    def gain(self, output: int) -> int:
        """What an output is topped up by in full."""
        return self.more * self.masses[output]

    def span(self, output: int, start: Place) -> Place:
        """What an output is topped up by if the stretch starts there."""
        return max(0, min(self.reached[output + 1], start + self.extra) - max(self.reached[output], start))

    def mass(self, output: int, start: Place) -> Place:
        """The probability of an output."""
        return self.one * self.masses[output] + self.span(output, start)

    def row(self, start: Place) -> list[Fraction]:
        """The probabilities of all outputs, as parts of one."""
        return [Fraction(self.mass(output, start), self.unit) for output in range(len(self.masses))]

    def corners(self, output: int) -> tuple[int, int]:
        """From the first of these starts to the second the stretch covers as much of an output as it can."""
        ends = self.reached[output], self.reached[output + 1] - self.extra
        return min(ends), max(ends)

    def stretches(self) -> list[Stretch]:
        """The places where an end of the stretch meets an end of an output, from the first to the last."""
        reached, extra, most = self.reached, self.extra, len(self.masses) - 1
        found: list[Stretch] = []
        start = first = last = 0
        while True:
            while first < most and reached[first + 1] <= start:
                first += 1
            while last < most and reached[last + 1] <= start + extra:
                last += 1
            found.append(Stretch(start, start + extra, first, last))
            if start + extra >= reached[-1]:
                return found
            start += min(reached[first + 1] - start, reached[last + 1] - start - extra)


class Filled:
    """What both window mechanisms do with the fill that their laws are: they say where it starts for an input."""

    __slots__ = ()

    if TYPE_CHECKING:
        inputs: Interval
        points: Floats

        @property
        def _fill(self) -> Fill: ...

        def _start(self, x: ArrayLike) -> Floats: ...

    @property
    def outputs(self) -> Finite:
        return Finite(tuple(self.points.tolist()))

    def rows(self, x: ArrayLike) -> Floats:
        """The probabilities of all outputs, one more axis than ``x``."""
        return self._fill.rows(self._start(x))

    def density(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return np.zeros(np.broadcast_shapes(analysis.require_outputs(y).shape, self.inputs.require(x).shape))

    def mass(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._fill.mass(y, self._start(x))

    def cdf(self, y: ArrayLike, x: ArrayLike) -> Floats:
        return self._fill.cdf(y, self._start(x))

    def quantile(self, u: ArrayLike, x: ArrayLike) -> Floats:
        return self._fill.quantile(u, self._start(x))

    def sample(self, x: ArrayLike, rng: np.random.Generator, size: int | None = None) -> Floats:
        inputs = analysis.inputs_for_sampling(self.inputs, x, size)
        return self.quantile(1 - analysis.require_generator(rng).random(inputs.shape), inputs)

    def moment(self, x: ArrayLike, order: int) -> Floats:
        inputs = self.inputs.require(x)
        return self._fill.moment(inputs, self._start(inputs), order)

    def expected_loss(self, x: ArrayLike, loss: Loss) -> Floats:
        inputs = self.inputs.require(x)
        return self._fill.expectation(inputs, self._start(inputs), lambda at: loss(self.points, at[..., None]))


def length_of(total: float, ratio: float) -> float:
    """How long the stretch is along a cumulative base that reaches ``total``."""
    return max(0.0, 1.0 - total) / (ratio - 1) if ratio > 1 else 0.0


def filled(sizes: Floats, room: float) -> Floats:
    """How much of each of ``sizes`` is filled if they are filled in order until ``room`` is spent, on the last axis.

    >>> filled(np.array([[0.5, 0.25], [0.25, 0.5]]), 0.375).tolist()
    [[0.375, 0.0], [0.25, 0.125]]
    """
    before = np.cumsum(sizes, axis=-1) - sizes
    return np.clip(room - before, 0.0, sizes)


def power_sum(moments: Any, x: Any, split: Any, count: Any) -> Any:
    """``sum m |y - x|^p`` over the first ``count`` outputs, of which ``split`` are below x, in O(p).

    ``moments[k]`` for k from 0 to p are the running sums of ``m y^k``: lists of whole numbers for one x, or arrays of
    doubles for an array of them.

    >>> power_sum([[0, 1, 3], [0, 2, 12]], 3, 1, 2)  # masses 1 and 2 at 2 and 5: |2 - 3| + 2 |5 - 3|
    5
    """
    power = len(moments) - 1

    def signed(first: Any, last: Any) -> Any:
        total = 0
        for k in range(power + 1):
            total = total + math.comb(power, k) * (-x) ** k * (moments[power - k][last] - moments[power - k][first])
        return total

    below = signed(0, split)
    return signed(split, count) + (-below if power % 2 else below)
