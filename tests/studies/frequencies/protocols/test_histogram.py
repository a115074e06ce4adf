"""Histogram encoding: the threshold and the chances of crossing it."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import protocol


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("size", [2, 20, 1000])
def test_the_threshold_has_the_least_variance_on_a_fine_grid(epsilon, size):
    best = protocol("the", epsilon, size)
    grid = [protocol("the", epsilon, size, threshold=t).variance(1 / size, 1).item() for t in np.linspace(0, 1, 1001)]
    assert best.variance(1 / size, 1).item() <= min(grid) * (1 + 1e-9)
    assert 0.5 <= best.threshold <= 1


def test_for_rare_items_the_published_criterion_is_met():
    """Wang et al.: theta minimises ``(2 e^(eps t/2) - 1) / (1 + e^(eps (t - 1/2)) - 2 e^(eps t/2))^2``."""
    for epsilon in (0.5, 1.0, 3.0):
        t = protocol("the", epsilon, 10**7).threshold
        at = [
            (2 * math.exp(epsilon * s / 2) - 1)
            / (1 + math.exp(epsilon * (s - 0.5)) - 2 * math.exp(epsilon * s / 2)) ** 2
            for s in (t - 1e-3, t, t + 1e-3)
        ]
        assert at[1] < min(at[0], at[2])


def test_chances_are_those_of_laplace_noise():
    law = protocol("the", 1.3, 10, threshold=0.7)
    assert law.p == pytest.approx(stats.laplace(1, 2 / 1.3).sf(0.7))
    assert law.q == pytest.approx(stats.laplace(0, 2 / 1.3).sf(0.7))


@pytest.mark.parametrize("threshold", [-0.1, 1.1, math.nan, "a", math.inf])
def test_thresholds_outside_are_refused(threshold):
    with pytest.raises(InvalidInput, match="threshold must"):
        protocol("the", 1.0, 10, threshold=threshold)


def test_noise_is_never_infinite():
    class Edge(np.random.Generator):
        def random(self, size):
            return np.zeros(size)

    law = protocol("she", 1.0, 3)
    assert np.isfinite(law.report([0, 1], Edge(np.random.PCG64(1)))).all()
