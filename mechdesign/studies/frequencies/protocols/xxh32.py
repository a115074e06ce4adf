"""XXH32 of whole numbers written in decimal digits, many at a time: the hash of other packages' local hashing.

They hash the text of an item's number, ``xxh32(str(v), seed)``, with 32 bits of seed: of a longer one the lowest count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput

Words = NDArray[np.uint64]
Halves = NDArray[np.uint32]

SEED_BITS = 32

_PRIME_1 = np.uint32(2654435761)
_PRIME_2 = np.uint32(2246822519)
_PRIME_3 = np.uint32(3266489917)
_PRIME_4 = np.uint32(668265263)
_PRIME_5 = np.uint32(374761393)
_POWERS = 10 ** np.arange(1, 16, dtype=np.uint64)
_LANE = 4
_ZERO = 48  # the code of the digit 0


def xxh32_decimal(numbers: NDArray[Any], seeds: NDArray[Any]) -> Words:
    """The 32-bit hashes of ``str(number)`` for numbers below 10^15, under ``seeds``; the two broadcast.

    >>> hex(xxh32_decimal(np.array([7]), np.array([2025]))[0])
    '0x8b8a55a2'
    """
    keys, start = np.atleast_1d(numbers.astype(np.uint64)), np.atleast_1d(seeds.astype(np.uint64)).astype(np.uint32)
    if keys.size and keys.max() >= _POWERS[-1]:
        raise InvalidInput("numbers", "a larger one", "be below 10^15: their texts are hashed as short ones")
    lengths = np.searchsorted(_POWERS, keys, side="right") + 1
    if keys.size and lengths.min() == lengths.max():
        return _hashed(keys, int(lengths.flat[0]), start).astype(np.uint64)
    keys, lengths, start = np.broadcast_arrays(keys, lengths, start)
    found = np.empty(keys.shape, dtype=np.uint64)
    for length in np.unique(lengths).tolist():
        chosen = lengths == length
        found[chosen] = _hashed(keys[chosen], length, start[chosen])
    return found


def _hashed(keys: Words, length: int, start: Halves) -> Halves:
    """Texts shorter than 16 bytes: whole lanes of four bytes, then single bytes, then the mixing of the bits."""
    places = [np.uint64(10**place) for place in reversed(range(length))]
    codes = [(keys // place % np.uint64(10)).astype(np.uint32) + np.uint32(_ZERO) for place in places]
    state = start + _PRIME_5 + np.uint32(length)
    whole = length - length % _LANE
    for first in range(0, whole, _LANE):
        lane = sum(code << np.uint32(8 * place) for place, code in enumerate(codes[first : first + _LANE]))
        state = _rotate(state + lane * _PRIME_3, 17) * _PRIME_4
    for code in codes[whole:]:
        state = _rotate(state + code * _PRIME_5, 11) * _PRIME_1
    state ^= state >> np.uint32(15)
    state *= _PRIME_2
    state ^= state >> np.uint32(13)
    state *= _PRIME_3
    state ^= state >> np.uint32(16)
    return state


def _rotate(words: Halves, bits: int) -> Halves:
    return (words << np.uint32(bits)) | (words >> np.uint32(32 - bits))
