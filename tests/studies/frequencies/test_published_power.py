"""Erratum 10: the variance LDP3's published code weighs estimates with in Power, beside the right one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.studies.frequencies import metrics, postprocess
from mechdesign.studies.frequencies.protocols import protocol

ITEMS, USERS = 64, 20_000


def published_variance(epsilon: float, counts: list[int]) -> float:
    """Of a count under OUE: its formula ``4 e^eps / (n (e^eps - 1)^2)``, with the number of counts for n, times n."""
    share = 4 * math.exp(epsilon) / (len(counts) * math.expm1(epsilon) ** 2)
    return share * sum(counts)


def test_the_published_power_uses_one_over_k_of_the_right_variance():
    counts = np.random.default_rng(1).multinomial(USERS, np.full(ITEMS, 1 / ITEMS)).tolist()
    right = protocol("oue", 1.0, ITEMS).variance(0.0, USERS).item() * USERS**2
    used = published_variance(1.0, counts)
    assert (round(right, 2), round(used, 2)) == (73653.89, 1150.84)
    assert right / used == pytest.approx(ITEMS, rel=1e-12)


def test_power_with_that_variance_is_further_from_the_truth():
    """Zipf data, OUE, 10 collections: the mean absolute error is a third larger at least (seed 1)."""
    shares, rng = 1 / np.arange(1, ITEMS + 1), np.random.default_rng(1)
    counts = rng.multinomial(USERS, shares / shares.sum())
    law = protocol("oue", 1.0, ITEMS)
    right = postprocess.SupportNoise(USERS, lambda f: law.variance(f, USERS))
    slip = postprocess.SupportNoise(USERS, lambda f: law.variance(f, USERS) / ITEMS)
    errors = np.zeros(2)
    for _ in range(10):
        raw = law.estimate(law.simulate(counts, rng), USERS)
        errors += [metrics.mae(counts / USERS, postprocess.METHODS["power-ns"](raw, noise)) for noise in (right, slip)]
    assert errors[1] > 1.33 * errors[0]


def test_its_divergence_is_that_of_the_truth_from_the_estimate():
    truth, estimate = [0.5, 0.3, 0.2], [0.4, 0.4, 0.2]
    expected = 0.4 * math.log(0.4 / 0.5) + 0.4 * math.log(0.4 / 0.3)
    assert metrics.kl_reversed(truth, estimate, 1e-15) == pytest.approx(expected, rel=1e-9)
    assert metrics.kl(truth, estimate, 1e-15) == pytest.approx(
        0.5 * math.log(0.5 / 0.4) + 0.3 * math.log(0.3 / 0.4), rel=1e-9
    )
    assert metrics.kl_reversed(truth, [-0.1, -0.2, 0.0], 1e-15) == pytest.approx(
        sum(math.log(1 / 3 / f) / 3 for f in truth), rel=1e-9
    )
