"""The five laws as data sets: their bins, and their shares against the distribution functions of scipy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.laws import LAWS, made_of_law

KNOWN = {
    "gaussian": stats.norm(1000, 10),
    "exponential": stats.expon(),
    "uniform": stats.uniform(100, 9900),
    "poisson": stats.poisson(5),
    "triangular": stats.triang((4500 - 100) / 9900, 100, 9900),
}


@pytest.mark.parametrize("name", LAWS)
def test_samples_follow_their_law(name: str) -> None:
    """100,000 numbers, seed 1: the distance of Kolmogorov is below 2.7/sqrt(n), which luck exceeds once in 10^6."""
    values = np.sort(LAWS[name](100_000, np.random.default_rng(1)))
    at = np.unique(values)
    seen = np.searchsorted(values, at, side="right") / values.size
    assert np.abs(seen - KNOWN[name].cdf(at)).max() < 2.7 / np.sqrt(values.size)


@pytest.mark.parametrize("name", LAWS)
def test_bins_are_those_of_a_histogram_of_the_sample(name: str) -> None:
    data = made_of_law(name, 5000, 50, np.random.default_rng(2))
    assert data.counts.tolist() == np.histogram(LAWS[name](5000, np.random.default_rng(2)), 50)[0].tolist()
    assert (data.n, data.size) == (5000, 50)
    assert data.counts[0] > 0
    assert data.counts[-1] > 0


@pytest.mark.parametrize(
    ("name", "users", "bins"), [("cauchy", 10, 2), ("poisson", 1, 2), ("poisson", 10, 1), ("poisson", 2.5, 2)]
)
def test_what_is_no_data_set_is_refused(name: str, users: int, bins: int) -> None:
    with pytest.raises(InvalidInput):
        made_of_law(name, users, bins, np.random.default_rng(1))
