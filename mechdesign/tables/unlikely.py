"""Reports that no honest client sends: so far out that they have a chance below 2^-64, whatever the input.

Bits are drawn apart from each other, so every single report of many bits is unlikely: what counts is how many are 1.
Noise without an end is judged by how far outside the domain it leads. Of other laws any report is as likely as others.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.tables.kinds import AdditiveLaw, Law, SketchLaw
from mechdesign.tables.kinds.items import Coins, bytes_of
from mechdesign.values.declare import frozen

_SIDE = 65  # the chance of either side is below 2^-65
_UNIT = 1 << 400
_ONES = np.array([number.bit_count() for number in range(256)], dtype=np.uint8)


@frozen
class Likely:
    """The least and the most that reports measure; what is beyond comes with a chance below 2^-64 for every input."""

    measure: Callable[[NDArray[Any]], NDArray[Any]]
    least: float
    most: float

    def leaves_out(self, reports: NDArray[Any]) -> NDArray[np.bool_]:
        """Which reports no honest client sends."""
        said = self.measure(reports)
        return np.asarray((said < self.least) | (said > self.most))


@lru_cache(maxsize=64)
def likely(law: Law) -> Likely | None:
    """How reports of a law are judged, if any can be too unlikely.

    >>> from mechdesign.studies.frequencies.shipping import encoding
    >>> from mechdesign.tables import make_table
    >>> found = likely(make_table(encoding("oue", 1.0, 1000)).law)
    >>> found.least, found.most
    (148, 403)
    """
    if isinstance(law, Coins):
        first = bytes_of(law.functions) if isinstance(law, SketchLaw) else 0
        return Likely(lambda rows: _ones(rows[:, first:]), *limits(law.width, law.own_bit, law.other_bit))
    if isinstance(law, AdditiveLaw) and law.clamp is None:
        return Likely(np.asarray, *_ends(law))
    return None


def _ones(rows: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(_ONES[rows].sum(axis=1, dtype=np.int64))


def limits(bits: int, own: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """The least and the most number of ones: so many or fewer, and so many or more, have a chance of 2^-65 at least.

    One bit is 1 with the chance of ``own``, pairs of counts of 0 and 1, and all others with that of ``other``. Decided
    in whole numbers that are rounded down in all that is compared with, and up in what is refused.
    """
    low, high = (list(_weights(bits, own, other, up)) for up in (False, True))
    whole = sum(low)

    def refused(side: list[int]) -> int:
        return sum(total << _SIDE < whole for total in accumulate(side))

    return refused(high), bits - refused(high[::-1])


def _weights(bits: int, own: tuple[int, int], other: tuple[int, int], up: bool) -> Iterator[int]:
    """What the numbers 0 ... bits of ones weigh, all rounded to one side."""
    rest = _binomial(bits - 1, other, up)
    for one, none in zip((0, *rest), (*rest, 0), strict=True):
        yield own[0] * none + own[1] * one


def _binomial(bits: int, counts: tuple[int, int], up: bool) -> list[int]:
    """What the numbers of ones among bits that are alike weigh, against the likeliest one's unit."""
    zero, one = counts
    top = (bits + 1) * one // (zero + one)
    top = min(top, bits)

    def steps(places: range, factor: Callable[[int], tuple[int, int]]) -> list[int]:
        found = [_UNIT]
        for place in places:
            by, over = factor(place)
            found.append(-(-found[-1] * by // over) if up else found[-1] * by // over)
        return found[1:]

    above = steps(range(top, bits), lambda n: ((bits - n) * one, (n + 1) * zero))
    below = steps(range(top, 0, -1), lambda n: (n * zero, (bits - n + 1) * one))
    return [*below[::-1], _UNIT, *above]


def _ends(law: AdditiveLaw) -> tuple[float, float]:
    """So many blocks outside the grid of inputs: noise goes beyond ``b`` blocks with a chance of at most q^b."""
    falls = -math.log1p(-(law.whole - law.tail) / law.whole)
    blocks = math.ceil(_SIDE * math.log(2) / falls * (1 + 1e-6)) + 2
    far, step = blocks * len(law.weights), 1 / Fraction(2) ** law.shift
    return tuple(_double(Fraction(law.offset) + place * step) for place in (law.least - far, law.most + far))  # type: ignore[return-value]


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.copysign(math.inf, value)
