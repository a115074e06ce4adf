"""Noise on a grid: blocks of magnitudes with a geometric tail, added to an input that is rounded at random."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.additive import Additive
from mechdesign.mechanisms.discrete import TwoSidedGeometric
from mechdesign.mechanisms.noise import Laplace, Staircase
from mechdesign.tables import checker, draws
from mechdesign.tables.checker import exact_offset
from mechdesign.tables.draws import TOP, Guide
from mechdesign.tables.kinds.cases import Case, Draws, inexact, sides, spread, whole
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
from mechdesign.tables.kinds.pieces import ends_of
from mechdesign.tables.rounding import CAP_BITS, between, cumulative, too_few_bits
from mechdesign.tables.streams import Stream, repeats_below
from mechdesign.values.declare import Floats, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.domains import Interval

_STEP_BITS = 12
_MOST_STEPS = 1 << 16
_FAR = 128
"""Blocks of noise so far out that the last bit of a step shows in the output."""


@frozen
class AdditiveLaw(Spread):
    """``P(Z = +-(b R + r))`` is proportional to ``(tail / D)^b weights_r``, for the R steps of ``2^-shift`` that the
    domain spans, from ``offset + least 2^-shift`` to ``offset + most 2^-shift``."""

    kind: ClassVar[str] = "additive"
    made_from: ClassVar[tuple[type, ...]] = (Additive, TwoSidedGeometric)
    check = staticmethod(checker.check_additive)

    offset: float
    shift: int
    least: int
    most: int
    weights: tuple[int, ...]
    tail: int

    @classmethod
    def made(cls, mechanism: Additive | TwoSidedGeometric, order: Order) -> Rounded:
        """Inputs are rounded to the grid at random and without bias.

        *Guarantee.* ``w`` does not increase, ``w_0 <= c w_(R-1)`` and ``D <= c q``: shifts by up to R steps change no
        probability by more than c.
        """
        bits, cap = order.bits, order.cap
        law = _made(mechanism, bits, cap, ends_of(order.clamp))
        if law is None:
            raise too_few_bits(bits, lambda more: _made(mechanism, more, cap, None) is not None)
        return Rounded(law)

    @property
    def scale(self) -> float:
        """Steps of the grid in a unit of the inputs."""
        return 2.0**self.shift

    @property
    def step(self) -> float:
        return 2.0**-self.shift

    def rule(self) -> Rule:
        offset, scale, step, bits, tail = self.offset, self.scale, self.step, self.bits, self.tail
        sums = (0, *accumulate(self.weights))

        def report(x: float, stream: Stream) -> float:
            at = stream.whole((x - offset) * scale)
            while True:
                negative = stream.draw(1)
                blocks = 0
                while stream.draw(bits) < tail:
                    blocks += 1
                size = blocks * len(self.weights) + bisect_right(sums, stream.draw(bits)) - 1
                if size or not negative:
                    break
            return self.clamped(offset + (at - size if negative else at + size) * step)

        return report

    def sampler(self) -> Report:
        offset, scale, step, size = self.offset, self.scale, self.step, len(self.weights)
        guide = Guide([0, *accumulate(self.weights[:-1])], self.whole, self.bits - TOP)
        tail = Fraction(self.tail, self.whole)

        def goes_on(count: int) -> NDArray[np.bool_]:
            return draws.happens(np.full(count, float(tail)), lambda _: tail)

        def noise(count: int) -> NDArray[np.int64]:
            steps = guide.pick(count).astype(np.int64)
            further = np.flatnonzero(goes_on(count))
            while further.size:
                steps[further] += size
                further = further[goes_on(further.size)]
            signs = 1 - 2 * draws.draw(1, count).astype(np.int64)
            again = np.flatnonzero(signs + steps < 0)
            steps *= signs
            if again.size:
                steps[again] = noise(again.size)
            return steps

        def report(x: Floats) -> Floats:
            at = draws.whole((x - offset) * scale)
            return self.all_clamped(np.asarray(offset + (at + noise(x.size)) * step))

        return report

    @property
    def enough_bytes(self) -> int:
        """All but 2^-64 of the noise lies in so many blocks, and of the runs of minus zeros are so short."""
        size, further = (self.bits + 7) // 8, self.tail / self.whole
        zero = self.weights[0] / self.whole * (1 - further)
        blocks, attempts = (1 + math.ceil(repeats_below(chance)) for chance in (further, zero / 2))
        return 8 + attempts * (1 + 2 * size) + blocks * size

    def boundaries(self) -> Iterator[Case]:
        bits, numbers, (lower, upper) = self.bits, sides(self.weights), self.ends
        stop, again = (bits, self.tail), (bits, self.tail - 1)
        for number in numbers:
            # noise that leads into the domain is not hidden by a clamp
            for x, sign in ((lower, 0), (upper, 1)):
                if sign == 0 or number >= self.weights[0]:
                    yield Case(x, (*self._towards(x, sign), (1, sign), stop, (bits, number)))
        for x in spread(lower, upper):
            value = (x - self.offset) * self.scale
            for up in (False, True) if inexact(value) else (False,):
                place = whole(value, up=up)
                yield Case(x, (*place, (1, 0), stop, (bits, 0)))
                yield Case(x, (*place, (1, 1), stop, (bits, numbers[-1])))
            for blocks in (1, 2, 3, _FAR):
                for sign, number in ((0, 0), (1, 0), (0, numbers[-1]), (1, numbers[-1])):
                    yield Case(x, (*place, (1, sign), *(again,) * blocks, stop, (bits, number)))
            minus_zero = ((1, 1), stop, (bits, self.weights[0] - 1))
            for repeated in range(1, 3):
                again_then = (*minus_zero * repeated, (1, 0), (bits, self.whole - 1), (bits, numbers[-1]))
                yield Case(x, (*place, *again_then))

    def _towards(self, x: float, sign: int) -> Draws:
        """The place of an end of the domain, rounded into the domain where it can be."""
        value = (x - self.offset) * self.scale
        return whole(value, up=inexact(value) and (value < 0) == (sign == 1))

    def masses(self, x: float, other: float) -> Masses:
        steps, offset = Fraction(2) ** self.shift, Fraction(self.offset)
        places = (Fraction(x) - offset) * steps, (Fraction(other) - offset) * steps
        return self._masses(places, (-math.inf, math.inf) if self.clamp is None else self.clamp)

    def dominating(self, ratio: Fraction) -> Masses | None:
        """Noise that is symmetric and falls away from 0 is the more distinct the farther it is shifted, and inputs
        rounded at random are mixtures: the two grid steps at the ends of the domain dominate."""
        if self.weights[-1] << self.bits < self.tail * self.weights[0]:  # it rises where a block begins
            return super().dominating(ratio)
        return self._masses((Fraction(self.least), Fraction(self.most)), (-math.inf, math.inf))

    def _masses(self, places: tuple[Fraction, Fraction], clamp: tuple[float, float]) -> Masses:
        """Every output between the ends of the grid, and one block beyond each: further blocks repeat its ratios.

        Noise z has mass ``tail^b D^(B - b) w_r`` with ``abs(z) = b R + r``; blocks further out sum to ``1 / (1 - q)``.
        """
        full, size = self.whole, len(self.weights)
        levels = [self.tail**b * full ** (2 - b) for b in range(3)]
        noise = [level * weight for level in levels for weight in self.weights]
        unit = math.lcm(*(place.denominator for place in places))
        shares = [(math.floor(place), int((place - math.floor(place)) * unit)) for place in places]

        def mass(v: int, side: int) -> int:
            step, share = shares[side]
            value: int = (unit - share) * noise[abs(v - step)]
            return value + share * noise[abs(v - step - 1)] if share else value

        masses: dict[float, list[int]] = {}
        for v in range(self.least - size, self.most + size + 1):
            repeated = full if v < self.least or v > self.most else full - self.tail
            output = min(max(self.offset + v * self.step, clamp[0]), clamp[1])
            both = masses.setdefault(output, [0, 0])
            for side in (0, 1):
                both[side] += repeated * mass(v, side)
        return [(a, b) for a, b in masses.values()]

    def reading(self) -> Reading:
        offset, shift = self.offset, self.shift

        def find(reports: Floats) -> tuple[NDArray[Any], NDArray[np.bool_]]:
            with np.errstate(over="ignore", invalid="ignore"):
                places = np.rint(np.ldexp(reports - offset, shift))
                right = (offset + np.ldexp(places, -shift) == reports) & np.isfinite(places)
            return places, ~right

        return Reading(find, power_sums)

    def moments(self, sums: Sequence[int], count: int) -> Moments:
        step = 1 / Fraction(2) ** self.shift
        return *grid_moments(Fraction(self.offset), step, sums, count), None

    def reach(self, first: float, last: float, rare: float) -> tuple[float, float]:
        if self.clamp is not None:
            return self.clamp
        blocks = 1 + math.log(rare) / math.log(self.tail / self.whole)
        far = math.ldexp(len(self.weights) * blocks, -self.shift)
        return first - far, last + far

    def cdf(self, x: Floats, y: Floats) -> Floats:
        at = (x - self.offset) / self.step
        lower, share = np.floor(at), at - np.floor(at)
        upto = np.floor((y - self.offset) / self.step)
        by_lower, by_upper = (self._noise_cdf(upto[None, :] - (lower + up)[:, None]) for up in (0, 1))
        return np.asarray((1 - share)[:, None] * by_lower + share[:, None] * by_upper)

    def _noise_cdf(self, v: Floats) -> Floats:
        """``P(Z <= v)`` of the two-sided noise, blocks of whose magnitudes fall off geometrically."""
        full, ratio = float(self.whole), float(self.tail) / self.whole
        weights = np.array(self.weights, dtype=np.float64)
        rest = np.append(np.cumsum(weights[::-1])[::-1], 0.0)  # weight from each place of a block to its end
        total = full / (1 - ratio)

        def beyond(magnitude: Floats) -> Floats:
            block, place = np.divmod(magnitude, weights.size)
            return np.asarray(ratio**block * (rest[place.astype(np.int64)] + full * ratio / (1 - ratio)))

        norm = 2 * total - weights[0]
        upper = beyond(np.maximum(v + 1, 0)) / norm
        lower = beyond(np.maximum(-v, 0)) / norm
        return np.asarray(np.where(v >= 0, 1 - upper, lower))

    def numbers(self) -> dict[str, Number]:
        return {
            "offset": self.offset,
            "scale": self.scale,
            "step": self.step,
            "cumulative": (0, *accumulate(self.weights)),
            "tail": self.tail,
            "block": len(self.weights),
        }


def _made(
    mechanism: Additive | TwoSidedGeometric, bits: int, cap: int, clamp: tuple[float, float] | None
) -> AdditiveLaw | None:
    """The law, or `None` if there are too few bits for so small an epsilon."""
    inputs = Interval(mechanism.inputs.lower, mechanism.inputs.upper)
    offset = float(exact_offset(Fraction(inputs.lower), Fraction(inputs.upper)))
    is_whole = isinstance(mechanism, TwoSidedGeometric)
    shift = 0 if is_whole else min(_STEP_BITS, bits - 8) - math.frexp(mechanism.inputs.length)[1]
    if not abs(shift) <= 1000:
        raise InvalidInput("domain", mechanism.inputs.length, "have a length doubles can divide", "rescale the data")
    steps = Fraction(2) ** shift
    least = math.floor((Fraction(inputs.lower) - Fraction(offset)) * steps)
    most = math.ceil((Fraction(inputs.upper) - Fraction(offset)) * steps)
    size = most - least
    if not 1 <= size <= min(_MOST_STEPS, 1 << (bits - 4)):
        raise InvalidInput("domain", size, f"span at most {min(_MOST_STEPS, 1 << (bits - 4))} grid steps")
    density, drop = _magnitudes(mechanism)
    full = 1 << bits
    least_tail = -((-full << CAP_BITS) // cap)
    weights = _weights(density, size, full, cap)
    if weights is None or least_tail >= full:
        return None
    tail = min(max(round(Fraction(drop) * full), least_tail), full - 1)
    if full - tail << checker.LAST_BLOCK < full:
        rule = "be so large that noise ends within a domain length with chance 2^-16: samplers draw until it does"
        raise InvalidInput("epsilon", mechanism.epsilon, rule, "take a larger eps")
    return AdditiveLaw(inputs, bits, clamp, offset, shift, least, most, tuple(weights), tail)


def _magnitudes(mechanism: Additive | TwoSidedGeometric) -> tuple[Callable[[Floats], Floats], float]:
    """The density of a magnitude along one block (as a function of its share in it), and how much lower the next is."""
    if isinstance(mechanism, TwoSidedGeometric):
        loss = mechanism.epsilon
    elif isinstance(mechanism.noise, Laplace):
        loss = min(mechanism.inputs.length / mechanism.noise.scale, mechanism.epsilon)
    elif isinstance(mechanism.noise, Staircase):
        if not math.isclose(mechanism.noise.sensitivity, mechanism.inputs.length, rel_tol=1e-6):
            raise InvalidInput("sensitivity", mechanism.noise.sensitivity, "be the length of the inputs in a table")
        loss, share = mechanism.noise.epsilon, mechanism.noise.share
        return (lambda place: np.where(place < share, 1.0, math.exp(-loss))), math.exp(-loss)
    else:
        name = type(mechanism.noise).__name__
        raise InvalidInput("noise", name, "be Laplace or staircase noise: no other has a finite privacy loss")
    return (lambda place: np.exp(-loss * place)), math.exp(-loss)


def _weights(density: Callable[[Floats], Floats], size: int, full: int, cap: int) -> list[int] | None:
    values, _ = dyadic(density(np.arange(size) / size))
    wanted = cumulative(values, sum(values), Fraction(full))
    for least in (min(wanted), min(wanted) + 1, min(wanted) - 1):
        most = cap * least >> CAP_BITS
        if least >= 1 and size * least <= full <= size * most:
            weights = between(wanted, [least] * size, [most] * size, full)
            return sorted(weights, reverse=True)
    return None
