"""Uniform whole numbers in bulk from the operating system, and what is decided by them exactly.

Randomness is what costs, so a uniform number is drawn from the top: its first digits, looked up in a table of equal
stretches, decide nearly always, and only where a stretch holds a boundary are the other digits drawn and the boundary
searched in whole numbers.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.values.declare import Floats

Keys = NDArray[np.uint64]
Places = NDArray[np.integer[Any]]

TOP = 16
"""The bits of a number that are drawn first."""

_NEAR = 2.0**-40


def draw(bits: int, count: int) -> NDArray[Any]:
    """``count`` uniform whole numbers of ``bits`` bits from the operating system, in the narrowest unsigned type."""
    if bits == 1:
        return np.unpackbits(np.frombuffer(os.urandom(-(-count // 8)), dtype=np.uint8), count=count)
    width = next(w for w in (1, 2, 4, 8) if bits <= 8 * w)
    numbers = np.frombuffer(os.urandom(width * count), dtype=f"<u{width}")
    return numbers if bits == 8 * width else numbers & numbers.dtype.type((1 << bits) - 1)


def completed(tops: NDArray[Any], bits: int) -> Keys:
    """Numbers that begin with ``tops``: ``bits`` more are drawn for each."""
    return np.asarray(tops.astype(np.uint64) << np.uint64(bits) | draw(bits, tops.size))


def settled(number: int, bits: int, decide: Callable[[Fraction], int]) -> int:
    """What ``decide`` says of a uniform real in [0, 1) whose first ``bits`` digits are ``number``.

    ``decide`` does not decrease: digits are drawn until it says the same at both ends of what they leave.
    """
    while (answer := decide(Fraction(number, 1 << bits))) != decide(Fraction(number + 1, 1 << bits)):
        number, bits = number << 64 | int(draw(64, 1)[0]), bits + 64
    return answer


def happens(chances: Floats, exact: Callable[[int], Fraction]) -> NDArray[np.bool_]:
    """True for entry i with probability exactly ``exact(i)``, from which ``chances[i]`` is less than 2^-40 away."""
    drawn = draw(TOP, chances.size)
    left = chances * 2.0**TOP
    left -= drawn  # the share of what the digits drawn leave open: below 0 is none, above 1 all
    answers = left > 0.5
    left -= 0.5
    for i in np.flatnonzero(np.abs(left, out=left) < 0.5 + _NEAR * 2.0**TOP).tolist():
        chance = exact(i)
        answers[i] = not settled(int(drawn[i]), TOP, chance.__le__)
    return answers


def whole(values: Floats) -> NDArray[np.int64]:
    """Whole numbers next to ``values`` with exactly these means."""
    floors = np.floor(values)
    # of a tiny negative value the difference is rounded: near enough for the first digits, and exact for the others
    up = happens(values - floors, lambda i: Fraction(values[i]) - int(floors[i]))
    return np.asarray(floors.astype(np.int64) + up)


def below(counts: Keys) -> Keys:
    """For each entry a uniform whole number below it, by rejection."""
    masks = counts - np.uint64(1)
    for shift in (1, 2, 4, 8, 16, 32):
        masks = masks | (masks >> np.uint64(shift))
    bits = int(masks.max(initial=0)).bit_length()
    numbers = draw(bits, counts.size).astype(np.uint64) & masks
    wrong = np.flatnonzero(numbers >= counts)
    while wrong.size:
        numbers[wrong] = draw(bits, wrong.size).astype(np.uint64) & masks[wrong]
        wrong = wrong[numbers[wrong] >= counts[wrong]]
    return numbers


class Guide:
    """The largest j with ``sums[j] <= key`` of keys below ``total``; ``sums`` are whole, start at 0, do not decrease.

    ``table`` holds the answer for every stretch of 2^shift keys: where that is not one number, ~j for that of its
    first key. There the next sum nearly always decides.
    """

    def __init__(self, sums: Sequence[int], total: int, shift: int) -> None:
        self.sums, self.shift = np.array([*sums, total], dtype=np.uint64), shift
        edges = np.arange(((total - 1) >> shift) + 1, dtype=np.uint64) << np.uint64(shift)
        first = np.searchsorted(self.sums, edges, side="right") - 1
        last = np.append(first[1:], len(sums) - 1)
        at_edge = np.append(self.sums[first[1:]] == edges[1:], False)  # a boundary at the next stretch's first key
        is_one = (last == first) | ((last == first + 1) & at_edge)
        self.table = np.where(is_one, first, ~first).astype(np.min_scalar_type(-len(sums)))

    def find(self, keys: NDArray[np.int64]) -> Places:
        found = self.table.take(keys >> self.shift)
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = self.search(keys[open_].astype(np.uint64), found[open_])
        return found

    def pick(self, count: int) -> Places:
        """The same for uniform keys, ``total`` being 2^(16 + shift)."""
        tops = draw(TOP, count)
        found = self.table.take(tops)
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = self.search(completed(tops[open_], self.shift), found[open_])
        return found

    def search(self, keys: Keys, entries: Places) -> Places:
        """The same where the table's entries leave it open."""
        first = ~entries.astype(np.intp)
        found = first + (self.sums.take(first + 1) <= keys)
        late = np.flatnonzero(self.sums.take(found + 1) <= keys)
        found[late] = np.searchsorted(self.sums, keys[late], side="right") - 1
        return found


class Turns:
    """How many thresholds are below each input."""

    def __init__(self, thresholds: Floats, lower: float, upper: float) -> None:
        self.thresholds, self.lower = thresholds, lower
        self.scale = (1 << TOP) / (upper - lower)
        stretches = self._stretch(thresholds)
        count = int(self._stretch(np.array([upper]))[0]) + 1
        # rounding keeps the order: a threshold in an earlier stretch is below, one in a later stretch is not
        before = np.searchsorted(stretches, np.arange(count), side="left")
        is_open = np.bincount(stretches, minlength=count)[:count] > 0
        self.table = np.where(is_open, -1, before).astype(np.min_scalar_type(-len(thresholds) - 1))

    def _stretch(self, x: Floats) -> NDArray[np.int32]:
        return ((x - self.lower) * self.scale).astype(np.int32)

    def count(self, x: Floats) -> Places:
        found = self.table.take(self._stretch(x))
        open_ = np.flatnonzero(found < 0)
        if open_.size:
            found[open_] = np.searchsorted(self.thresholds, x[open_], side="left")
        return found


def placed(share: Fraction, inside: int, cells: int) -> Callable[[int], Floats]:
    """How to draw cells: the first ``inside`` have ``share`` of the mass, the rest the others, both spread evenly.

    A uniform real u is taken to floor(u inside / share), from ``share`` on to floor(cells - (1 - u) (cells - inside) /
    (1 - share)). Doubles find it from 48 bits of u unless a cell ends less than their error away.
    """
    bits = 48
    slopes = inside / share, (cells - inside) / (1 - share)
    up, back = (float(slope / 2**bits) for slope in slopes)
    bend = np.maximum if slopes[0] < slopes[1] else np.minimum
    slack = cells * 2.0**-49
    reach = slack + max(up, back) * (1 + 2.0**-40)  # what digits not drawn yet can still add

    def exact(u: Fraction) -> int:
        return int(u * slopes[0] if u < share else cells - (1 - u) * slopes[1])

    def places(count: int) -> Floats:
        drawn = draw(32, count) * 2.0 ** (bits - 32) + draw(bits - 32, count)
        near = bend(drawn * up, cells - (2.0**bits - drawn) * back)
        found: Floats = np.floor(near - slack)
        for i in np.flatnonzero(np.floor(near + reach) != found).tolist():
            found[i] = settled(int(drawn[i]), bits, exact)
        return found

    return places
