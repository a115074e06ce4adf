"""Hadamard response: rows of the Hadamard matrix, and the simulation digit by digit."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg, stats

from mechdesign.collect.protocols import protocol

RATE = 1e-6


@pytest.mark.parametrize(("size", "columns"), [(2, 4), (3, 4), (4, 8), (7, 8), (8, 16), (100, 128)])
def test_the_channel_has_the_signs_of_the_hadamard_matrix(size, columns):
    law = protocol("hr", 1.0, size)
    signs = linalg.hadamard(columns)[1 : size + 1]
    assert law.columns == columns
    assert np.array_equal(law.channel() > 1 / columns, signs > 0)


@pytest.mark.parametrize("size", [3, 5, 12])
def test_simulated_histograms_follow_the_channel(size):
    """One collection of 400 000 users of one item at a time, chi-square at the rate 1e-6, seed by size."""
    law, rng = protocol("hr", 1.0, size), np.random.default_rng(size)
    for v in (0, 2, size - 1):
        counts = np.zeros(size, dtype=int)
        counts[v] = 400_000
        histogram = law.simulate_histogram(counts, rng)
        assert stats.chisquare(histogram, law.channel()[v] * 400_000).pvalue > RATE


def test_small_histograms_follow_the_exact_joint_law(exact):
    """5 items, so 8 columns: 4 000 collections of 3 users, seed 21, rate 1e-6."""
    law, rng = protocol("hr", 1.0, 5), np.random.default_rng(21)
    counts = np.array([1, 0, 1, 0, 1])
    drawn = np.stack([law.simulate(counts, rng) for _ in range(4000)])
    assert exact.p_value(drawn, exact.joint_law(law, counts)) > RATE


def test_supports_by_the_fast_transform_are_sums_over_reports():
    law, rng = protocol("hr", 1.0, 11), np.random.default_rng(1)
    reports = law.report(rng.integers(0, 11, 500), rng)
    signs = linalg.hadamard(16)[1:12]
    assert law.support(reports).tolist() == (signs[:, reports] > 0).sum(axis=1).tolist()
