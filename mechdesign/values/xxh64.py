"""XXH64 of whole numbers, many at a time.

Local hashing needs one hash function a user. Here it is the 64-bit xxHash with the user's seed, of the item's number as
eight bytes, little-endian: equal to ``xxhash.xxh64_intdigest(number.to_bytes(8, "little"), seed)`` and to XXH64 in any
other language, and free of what texts do to numbers (``1`` and ``"1"`` and ``1.0`` are no different keys here).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

_PRIME_1 = np.uint64(11400714785074694791)
_PRIME_2 = np.uint64(14029467366897019727)
_PRIME_3 = np.uint64(1609587929392839161)
_PRIME_4 = np.uint64(9650029242287828579)
_SEED_OFFSET = np.uint64((2870177450012600261 + 8) % 2**64)  # the fifth prime plus the length of the input


def xxh64(numbers: NDArray[Any], seeds: NDArray[Any]) -> Words:
    """The 64-bit hashes of ``numbers`` under ``seeds``; the two broadcast.

    >>> hex(xxh64(np.array([7]), np.array([2025]))[0])
    '0x5649c65c1f1e763f'
    """
    keys, start = np.atleast_1d(numbers.astype(np.uint64)), np.atleast_1d(seeds.astype(np.uint64))
    state = (_rotate(keys * _PRIME_2, 31) * _PRIME_1) ^ (start + _SEED_OFFSET)
    state = _rotate(state, 27)
    state *= _PRIME_1
    state += _PRIME_4
    state ^= state >> np.uint64(33)
    state *= _PRIME_2
    state ^= state >> np.uint64(29)
    state *= _PRIME_3
    state ^= state >> np.uint64(32)
    return state


def _rotate(words: Words, bits: int) -> Words:
    return (words << np.uint64(bits)) | (words >> np.uint64(64 - bits))
