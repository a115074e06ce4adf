"""Local hashing: the hash function, the choice of g, the reports."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import protocol
from mechdesign.studies.frequencies.protocols.hashing import best_hashes, local_hashing
from mechdesign.values.xxh64 import xxh64

RATE = 1e-6

# computed with the reference implementation: XXH64 of the number as eight bytes, little-endian
REFERENCE = [
    (0, 0, 0x34C96ACDCADB1BBB),
    (1, 0, 0x9F29CB17A2A49995),
    (7, 2025, 0x5649C65C1F1E763F),
    (99, 2**64 - 1, 0x3994446508281993),
    (2**63, 12345678901234567890, 0xE197B2111BA340D0),
]


def test_hashes_are_those_of_the_reference_implementation():
    numbers, seeds, hashes = (np.array(column, dtype=np.uint64) for column in zip(*REFERENCE, strict=True))
    assert xxh64(numbers, seeds).tolist() == hashes.tolist()


def test_hashes_do_not_depend_on_the_type_of_the_number():
    seeds = np.arange(5, dtype=np.uint64)
    expected = xxh64(np.array([3], dtype=np.uint64), seeds)
    for kind in (np.int8, np.int32, np.int64, np.uint16):
        assert np.array_equal(xxh64(np.array([3], dtype=kind), seeds), expected)


@pytest.mark.parametrize("g", [2, 3, 4, 7, 56])
def test_pairs_of_items_collide_once_in_g_seeds(g):
    """200 000 seeds for pairs of small numbers, chi-square of the difference of their hashes, rate 1e-6 each."""
    seeds = np.random.default_rng(g).integers(0, 2**64, 200_000, dtype=np.uint64)
    for a, b in ((0, 1), (5, 6), (0, 99)):
        first, second = (xxh64(np.array([v]), seeds) % np.uint64(g) for v in (a, b))
        differences = (first.astype(np.int64) - second.astype(np.int64)) % g
        assert stats.chisquare(np.bincount(differences, minlength=g)).pvalue > RATE
        assert stats.chisquare(np.bincount(first.astype(np.int64), minlength=g)).pvalue > RATE


@pytest.mark.parametrize("size", [2, 10, 100, 10_000])
@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 2.0, 3.0, 5.0])
def test_g_has_the_least_variance_of_all(size, epsilon):
    variances = [local_hashing(epsilon, size, g, "LH").variance(1 / size, 1).item() for g in range(2, 400)]
    assert best_hashes(epsilon, size) == 2 + int(np.argmin(variances))


def test_rounding_down_loses_up_to_12_percent_and_rounding_up_to_2_for_rare_items():
    """Correction 9, on the grid .2 to 6 of epsilon, for items nobody holds."""
    losses = {"floor": 0.0, "round": 0.0}
    for epsilon in np.linspace(0.2, 6, 200):
        near = range(2, int(math.exp(epsilon)) + 12)
        least = min(local_hashing(epsilon, 100, g, "LH").variance(0, 1).item() for g in near)
        for name, g in (("floor", math.floor(math.exp(epsilon) + 1)), ("round", round(math.exp(epsilon) + 1))):
            lost = local_hashing(epsilon, 100, max(2, g), "LH").variance(0, 1).item() / least - 1
            losses[name] = max(losses[name], lost)
    assert losses["floor"] == pytest.approx(0.115, abs=0.001)
    assert losses["round"] == pytest.approx(0.0199, abs=0.0001)


def test_with_few_items_and_large_epsilon_the_published_g_doubles_the_error():
    """Averaged over 20 items at eps = 6 the variance at ``g = e^eps + 1`` is 2.19 times the least."""
    best, published = protocol("olh", 6.0, 20), protocol("olh", 6.0, 20, g=math.floor(math.exp(6) + 1))
    assert published.variance(1 / 20, 1) / best.variance(1 / 20, 1) == pytest.approx(2.194, abs=0.001)


@pytest.mark.parametrize("g", [1, 0, -2, 2.5, "3", True, 2**31 + 1])
def test_g_must_be_a_whole_number_of_at_least_two(g):
    for key in ("olh", "l-olh"):
        with pytest.raises(InvalidInput, match="g must"):
            protocol(key, 1.0, 10, g=g)


def test_reports_are_a_seed_of_64_bits_and_a_hash_below_g():
    law = protocol("olh", 1.0, 1000)
    reports = law.report(np.arange(1000), np.random.default_rng(1))
    assert reports.shape == (1000, 2)
    assert reports.dtype == np.uint64
    assert reports[:, 1].max() < law.hashes
    assert len(set(reports[:, 0].tolist())) == 1000
    assert law.report_bits == 64 + 2


def test_hashes_beyond_g_are_refused():
    law = protocol("blh", 1.0, 10)
    with pytest.raises(InvalidInput, match="hashes below 2"):
        law.support(np.array([[1, 2]], dtype=np.uint64))
