"""Reports from the operating system's randomness."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from mechdesign.errors import InvalidInput
from mechdesign.studies.frequencies.protocols import PROTOCOLS, OperatingSystem, protocol


@pytest.mark.parametrize("key", [line.key for line in PROTOCOLS])
def test_every_client_runs_on_it_and_cannot_be_seeded(key):
    law, source = protocol(key, 1.0, 8), OperatingSystem()
    runs = [law.report(np.arange(8).repeat(20), source) for _ in range(2)]
    assert not np.array_equal(*runs)
    example = law.report(np.arange(8).repeat(20), np.random.default_rng(1))
    assert runs[0].shape == example.shape
    assert runs[0].dtype == example.dtype


def test_uniform_numbers_are_uniform():
    """n = 20 000, false-positive rate 1e-9 each: there is no seed to fix."""
    source = OperatingSystem()
    drawn = source.random((100, 200))
    assert drawn.shape == (100, 200)
    assert stats.kstest(drawn.ravel(), "uniform").pvalue > 1e-9
    whole = source.integers(3, 10, 20_000, np.int64)
    assert stats.chisquare(np.bincount(whole - 3, minlength=7)).pvalue > 1e-9
    assert source.integers(0, 1 << 64, 100, np.uint64).dtype == np.uint64


def test_simulations_refuse_it():
    with pytest.raises(InvalidInput, match="Generator"):
        protocol("grr", 1.0, 4).simulate([1, 1, 1, 1], OperatingSystem())


@pytest.mark.parametrize("key", ["grr", "l-grr"])
def test_the_least_draw_never_keeps_an_item(key, monkeypatch):
    """At eps = 64 the chance of another item is below 2^-53: rounded, it must not become 0. n = 400, rate 4^-400."""
    monkeypatch.setattr(OperatingSystem, "random", lambda _, size: np.zeros(size))
    law = protocol(key, 64.0, 4)
    assert 0 < law.size * law.q < 2**-53
    assert law.report(np.zeros(400, dtype=np.int64), OperatingSystem()).any()
