"""Random bits one after the other, as FORMAT.md has them drawn."""

from __future__ import annotations

import math
import os
from collections.abc import Callable


class Stream:
    """Random bits from a source of bytes, which are counted."""

    def __init__(self, read: Callable[[int], bytes] = os.urandom) -> None:
        self._read = read
        self.used = 0

    def draw(self, bits: int) -> int:
        """``bits`` uniform bits: whole bytes, little-endian, the low bits kept."""
        size = -(-bits // 8)
        self.used += size
        return int.from_bytes(self._read(size), "little") & ((1 << bits) - 1) if size else 0

    def below(self, count: int) -> int:
        """Uniform below ``count``, by rejection."""
        bits = (count - 1).bit_length()
        number = self.draw(bits)
        while number >= count:
            number = self.draw(bits)
        return number

    def fraction(self, share: float) -> bool:
        """True with probability exactly ``share``, a double in [0, 1)."""
        while share > 0:
            share *= 2.0**32
            digit = math.floor(share)
            number = self.draw(32)
            if number != digit:
                return number < digit
            share -= digit
        return False

    def whole(self, value: float) -> int:
        """A whole number next to ``value`` with exactly this mean."""
        size = abs(value)
        number = math.floor(size)
        number += self.fraction(size - number)
        return -number if value < 0 else number


def fixed_stream(content: bytes) -> Stream:
    """A stream that reads these bytes, for tests; `EOFError` when they run out.

    >>> fixed_stream(b"\\x01\\x02").draw(16)
    513
    """
    place = 0

    def read(size: int) -> bytes:
        nonlocal place
        if place + size > len(content):
            raise EOFError("the fixed stream has run out")
        place += size
        return content[place - size : place]

    return Stream(read)


_REJECTIONS = 64


def bytes_below(count: int) -> int:
    """All but 2^-64 of the numbers that `Stream.below` gives are found in so many bytes.

    >>> bytes_below(256), bytes_below(257)
    (1, 128)
    """
    bits = (count - 1).bit_length()
    rejected = 1 - count / 2**bits
    return (bits + 7) // 8 * (1 if rejected == 0 else math.ceil(repeats_below(rejected)))


def repeats_below(chance: float) -> float:
    """So many repeats of this chance in a row have a probability of 2^-64."""
    return _REJECTIONS * math.log(2) / -math.log(chance)
