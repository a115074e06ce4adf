"""Cases: an input with the numbers that its draws give, and draws that lie where a rounding turns."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate, pairwise

from mechdesign.values.declare import frozen

Draws = tuple[tuple[int, int], ...]
"""The numbers that ``draw`` is to give one after the other: how many bits, and the number."""

_PLACES = 6
"""Inputs inside the domain at which the place of an input on its grid is tried."""


@frozen
class Case:
    """An input, and the numbers its draws give."""

    x: float
    draws: Draws

    @property
    def stream(self) -> bytes:
        """The bytes that give these draws. Bits that ``draw`` must drop are ones.

        >>> Case(0.5, ((9, 258), (1, 0))).stream.hex()
        '02fffe'
        """
        return b"".join(_bytes(bits, number) for bits, number in self.draws)


def _bytes(bits: int, number: int) -> bytes:
    size = (bits + 7) // 8
    dropped = (1 << 8 * size) - (1 << bits)
    return (dropped | number).to_bytes(size, "little")


def evenly(count: int, most: int | None) -> Iterable[int]:
    return range(count) if most is None or count <= most else (i * count // most for i in range(most))


def below(count: int, number: int, *, rejected: bool = False) -> Draws:
    """``below(count)`` gives this number, if asked for after a draw that is one too large."""
    bits = (count - 1).bit_length()
    if bits == 0:
        return ()
    too_large = ((bits, count),) if rejected and count < 1 << bits else ()
    return (*too_large, (bits, number))


def whole(value: float, *, up: bool) -> Draws:
    """``whole(value)`` is rounded away from 0, or towards it, by the draws nearest to where it turns."""
    digits = []
    share = abs(value) % 1.0
    while share > 0:
        share *= 2.0**32
        digits.append(math.floor(share))
        share -= digits[-1]
    if up:  # the last digit is not 0
        digits[-1] -= 1
    return tuple((32, digit) for digit in digits)


def rounded(value: float, *, up: bool) -> int:
    size = math.floor(abs(value)) + up
    return -size if value < 0 else size


def inexact(value: float) -> bool:
    return value != math.floor(value)


def sides(counts: Iterable[int]) -> list[int]:
    """The first and the last draw of every output."""
    return [number for low, high in pairwise(accumulate(counts, initial=0)) for number in (low, high - 1)]


def spread(lower: float, upper: float) -> list[float]:
    """Both ends, and inputs whose place has many digits after the point."""
    shares = [(i * 0.6180339887498949) % 1.0 for i in range(1, _PLACES + 1)]
    return [lower, upper, *(min(lower + share * (upper - lower), upper) for share in shares)]


def turns(lower: float, upper: float, place: Callable[[float], float]) -> Iterator[float]:
    """The doubles at both sides of some whole places: the first and the last of the domain, and between."""
    first, last = math.floor(place(lower)) + 1, math.floor(place(upper))
    for turn in dict.fromkeys(first + (last - first) * i // _PLACES for i in range(_PLACES + 1)):
        low, high = lower, upper
        while low < (middle := low + (high - low) / 2) < high:
            low, high = (middle, high) if place(middle) < turn else (low, middle)
        if place(low) < turn <= place(high):
            yield from (low, high)
