"""The fixed populations have the published totals."""

from __future__ import annotations

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.studies.budgets import populations


@pytest.mark.parametrize(
    ("name", "items", "users"),
    [("msnbc-like", 17, 989_818), ("emoji-like", 200, 50_000), ("water-like", 41, 98_511), ("water-sample", 41, 985)],
)
def test_sizes_are_as_published(name, items, users):
    counts = populations.POPULATIONS[name]()
    assert (counts.size, counts.sum(), counts.min() >= 0) == (items, users, True)


def test_water_has_the_published_totals():
    values = np.arange(41)
    assert populations.water_like() @ values == 1_598_489
    assert populations.water_sample() @ values == 15_620


def test_zipf_counts_are_within_one_of_their_shares():
    weights = 1 / np.arange(1, 18)
    assert np.abs(populations.msnbc_like() - 989_818 * weights / weights.sum()).max() < 1


def test_scaling_keeps_frequencies_and_sums_to_the_users():
    counts = populations.scaled(populations.msnbc_like(), 10**6)
    assert counts.sum() == 10**6
    assert np.abs(counts / 10**6 - populations.msnbc_like() / 989_818).max() < 1e-6
    with pytest.raises(InvalidInput, match="users"):
        populations.scaled(counts, 0)
