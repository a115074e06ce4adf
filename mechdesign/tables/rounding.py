"""From real masses to whole counts that sum to a power of two and keep every column within the ratio."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate
from operator import sub

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.tables.checker import LARGEST
from mechdesign.values.declare import Floats
from mechdesign.values.dyadic import dyadic

BITS = (16, 32, 53, 62)
CAP_BITS = 96
_LEAST_SHARES = 16
_SLACK_BITS = 10  # a count is not added for less than this part of one, which doubles may have left


def cumulative(masses: Sequence[int], total: int, share: Fraction = Fraction(1)) -> list[int]:
    """Counts near ``masses / total * share``: their running sums are rounded, so that no error adds up.

    ``share`` is what a mass of ``total`` comes to.

    >>> cumulative([1, 1, 1], 3, Fraction(16))
    [5, 6, 5]
    """
    numerator, denominator = 2 * share.numerator, 2 * share.denominator * total
    half = share.denominator * total
    ends = [(reached * numerator + half) // denominator for reached in accumulate(masses)]
    return list(map(sub, ends, [0, *ends]))


def stretch_means(values: Sequence[int], masses: Sequence[int], counts: Sequence[int]) -> list[Fraction]:
    """The masses are cut, in the order of the values, into stretches in proportion to the counts: the mean of each.

    >>> [str(mean) for mean in stretch_means([0, 1], [1, 2], [1, 1])]
    ['1/3', '1']
    """
    size, pairs, means = sum(masses), zip(values, masses, strict=True), []
    value, left, scale = 0, 0, sum(counts)
    for count in counts:
        missing, moment = count * size, 0
        while missing:
            if not left:
                value, mass = next(pairs)
                left = mass * scale
            part = min(left, missing)
            moment, missing, left = moment + part * value, missing - part, left - part
        means.append(Fraction(moment, count * size))
    return means


def base_and_caps(masses: Sequence[int], unit: int, bits: int, cap: int) -> tuple[list[int], list[int]]:
    """Counts ``n`` near ``2^bits masses / unit`` and ``C = floor(n cap / 2^96)`` with ``sum n <= 2^bits <= sum C``.

    Counts that round to zero stay in the lists: their outputs are to be dropped. ``sum n`` is rounded up (but for a
    thousandth of a count), as windows that are a little too wide lose less than windows that are too narrow. Where the
    caps lose too much by their rounding down, the base is scaled up; if that takes half of what the base leaves to
    follow the input, it is refused.

    >>> base_and_caps([1, 1], 4, 16, 3 << 96)
    ([16384, 16384], [49152, 49152])
    """
    found = _base_and_caps(masses, unit, bits, cap)
    if found is None:
        finer = next((more for more in BITS if more > bits and _base_and_caps(masses, unit, more, cap)), None)
        next_step = "take fewer outputs or a larger eps" if finer is None else f"take {finer} bits"
        raise InvalidInput("bits", bits, "be enough for the number of outputs at this eps", next_step)
    return found


def _base_and_caps(masses: Sequence[int], unit: int, bits: int, cap: int) -> tuple[list[int], list[int]] | None:
    whole, total = 1 << bits, sum(masses)
    share = -((unit - (whole * min(total, unit) << _SLACK_BITS)) // (unit << _SLACK_BITS))
    most = whole - (whole - share) // 2
    if not share:
        return None
    for attempt in range(bits + 2):
        counts = cumulative(masses, total, Fraction(share))
        caps = [cap * n >> CAP_BITS for n in counts]
        missing = whole - sum(caps)
        if missing <= 0:
            return counts, caps
        if share == most:
            break
        grown = -(-share * (whole + (1 << attempt) - 1) // (whole - missing))
        share = min(max(grown, share + 1), most)
    return None


def between(wanted: Sequence[int], least: Sequence[int], most: Sequence[int], total: int) -> list[int]:
    """Whole counts near ``wanted``, between ``least`` and ``most``, that sum to ``total``.

    What is missing after clipping is spread over the room that is left, in proportion to it.

    >>> between([9, 1, 1], [2, 2, 2], [6, 6, 6], 12)
    [6, 3, 3]
    """
    bounded = zip(wanted, least, most, strict=True)
    counts = [low if count < low else high if count > high else count for count, low, high in bounded]
    missing = total - sum(counts)
    sign = 1 if missing > 0 else -1
    ends = most if missing > 0 else least
    room = [abs(end - count) for end, count in zip(ends, counts, strict=True)]
    if abs(missing) > sum(room):
        raise InvalidInput("counts", total, f"lie between {sum(least)} and {sum(most)}")
    if missing == 0:
        return counts
    shares = cumulative(room, sum(room), Fraction(abs(missing)))
    return [count + sign * share for count, share in zip(counts, shares, strict=True)]


def coarse(points: Floats, base: Floats, bits: int) -> tuple[Floats, list[int], int]:
    """Outputs and masses per unit: as they are, or one output for every count where counts are few.

    An output that has a count because many before it have none would be an arbitrary one of them. So with fewer than
    two counts an output the base is cut into equal shares, a count each, at their means: for the squared error at
    eps = 8 and 16 bits this loses a fifth of what the outputs where the rounding falls lose.
    """
    masses, shift = dyadic(base)
    unit, total = 1 << shift, sum(masses)
    count = -(-(total << bits) >> shift)
    if count >= 2 * len(masses):
        return points, masses, unit
    if count < _LEAST_SHARES:
        finer = next((more for more in BITS if total << more >= _LEAST_SHARES << shift), None)
        next_step = "take a smaller eps" if finer is None else f"take {finer} bits"
        raise InvalidInput("bits", bits, f"leave {_LEAST_SHARES} counts to the base or two for every output", next_step)
    places, shares = np.unique(means_of(points, masses, [1] * count), return_counts=True)
    return places, shares.tolist(), 1 << bits


def means_of(points: Floats, masses: list[int], counts: list[int]) -> Floats:
    values, shift = dyadic(points)
    return np.array([float(mean / (1 << shift)) for mean in stretch_means(values, masses, counts)])


def kept(masses: list[int], unit: int, bits: int, cap: int) -> tuple[list[int], list[int], list[int]]:
    """The outputs that have counts, and those counts and caps."""
    counts, caps = base_and_caps(masses, unit, bits, cap)
    left = [j for j, count in enumerate(counts) if count]
    if sum(caps) >> 63:
        room = (1 << 63) - (cap >> CAP_BITS) - 1  # a base rounded up may have a count more
        fitting = [fewer for fewer in BITS if fewer < bits and sum(caps) >> (bits - fewer) < room]
        next_step = f"take {fitting[-1]} bits" if fitting else "take a smaller eps"
        raise InvalidInput("bits", bits, "leave the caps below 2^63 in sum at this eps", next_step)
    return left, [counts[j] for j in left], [caps[j] for j in left]


def too_few_bits(bits: int, works: Callable[[int], bool]) -> InvalidInput:
    """The error that says which number of bits works."""
    finer = next((more for more in BITS if more > bits and works(more)), None)
    rule = "be enough to write probabilities that differ as little as at this eps"
    return InvalidInput("bits", bits, rule, "take a larger eps" if finer is None else f"take {finer} bits (--bits)")


def require_size(size: float) -> None:
    """Bytes that a table file may have."""
    if size > LARGEST:
        rule = f"be a file of at most {LARGEST // 2**20} MB"
        raise InvalidInput("table", f"{size / 2**20:.0f} MB", rule, "take fewer bits, or fewer inputs and outputs")
