"""From real masses to whole counts that sum to a power of two and keep every column within the ratio."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from mechdesign.errors import InvalidInput

CAP_BITS = 96
_TRIES = 64


def cumulative(masses: Sequence[int], total: int, share: Fraction = Fraction(1)) -> list[int]:
    """Counts near ``masses / total * share``: their running sums are rounded, so that no error adds up.

    ``share`` is what a mass of ``total`` comes to.

    >>> cumulative([1, 1, 1], 3, Fraction(16))
    [5, 6, 5]
    """
    counts, reached, before = [], 0, 0
    numerator, denominator = 2 * share.numerator, 2 * share.denominator * total
    half = share.denominator * total
    for mass in masses:
        reached += mass
        here = (reached * numerator + half) // denominator
        counts.append(here - before)
        before = here
    return counts


def base_and_caps(masses: Sequence[int], unit: int, bits: int, cap: int) -> tuple[list[int], list[int]]:
    """Counts ``n`` near ``2^bits masses / unit`` and ``C = floor(n cap / 2^96)`` with ``sum n <= 2^bits <= sum C``.

    Counts that round to zero stay in the lists: their outputs are to be dropped. Where the caps lose too much by their
    rounding down, the base is scaled up; at worst it sums to ``2^bits`` itself.

    >>> base_and_caps([1, 1], 4, 16, 3 << 96)
    ([16384, 16384], [49152, 49152])
    """
    whole, total = 1 << bits, sum(masses)
    share = Fraction(whole * min(total, unit), unit)
    for attempt in range(_TRIES):
        counts = cumulative(masses, total, share)
        caps = [cap * n >> CAP_BITS for n in counts]
        missing = whole - sum(caps)
        if missing <= 0:
            return counts, caps
        grown = share * (whole + (1 << attempt) - 1) / (whole - missing)
        share = min(Fraction(math.ceil(max(grown, share) * 1024) + 1, 1024), Fraction(whole))
    raise InvalidInput("bits", bits, "be enough for the number of outputs", "take more bits or fewer outputs")


def between(wanted: Sequence[int], least: Sequence[int], most: Sequence[int], total: int) -> list[int]:
    """Whole counts near ``wanted``, between ``least`` and ``most``, that sum to ``total``.

    What is missing after clipping is spread over the room that is left, in proportion to it.

    >>> between([9, 1, 1], [2, 2, 2], [6, 6, 6], 12)
    [6, 3, 3]
    """
    counts = [min(max(w, low), high) for w, low, high in zip(wanted, least, most, strict=True)]
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
