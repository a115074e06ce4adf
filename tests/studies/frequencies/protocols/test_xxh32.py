"""XXH32 of decimal texts, against the reference library."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols.xxh32 import xxh32_decimal

# xxhash 3.8.2: xxhash.xxh32(str(number), seed=seed).intdigest()
NUMBERS = [0, 7, 42, 123, 9999, 12345, 999999, 1234567, 99999999, 123456789, 10**12 + 5, 10**15 - 1]
FIRST, SECOND = 0, 2**62 + 12345
VECTORS = {
    FIRST: [
        1212501170, 548432130, 425741723, 3062191159, 1727258241, 3003995828,
        1800872557, 3717027150, 654908617, 2474356071, 2886859505, 323231383,
    ],
    SECOND: [
        1221158661, 2702104313, 2839075497, 410826226, 1534489155, 166276647,
        2130911621, 4203283868, 3888318360, 431797485, 319688272, 3140508381,
    ],
}  # fmt: skip


@pytest.mark.parametrize("seed", VECTORS)
def test_hashes_equal_those_of_the_reference_library(seed: int) -> None:
    assert xxh32_decimal(np.array(NUMBERS), np.array([seed])).tolist() == VECTORS[seed]
    single = [int(xxh32_decimal(np.array([number]), np.array([seed]))[0]) for number in NUMBERS]
    assert single == VECTORS[seed]


def test_only_the_low_half_of_a_seed_counts() -> None:
    low = xxh32_decimal(np.array([5]), np.array([3]))
    assert xxh32_decimal(np.array([5]), np.array([2**40 + 3])).tolist() == low.tolist()


def test_longer_texts_are_refused() -> None:
    with pytest.raises(InvalidInput, match="10\\^15"):
        xxh32_decimal(np.array([10**15]), np.array([1]))
