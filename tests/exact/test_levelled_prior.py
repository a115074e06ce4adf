"""The bound for all mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Interval, InvalidInput, Power, catalogue
from mechdesign.exact.levelled_prior import LevelledPrior

UNIT = Interval(0, 1)


def _brute(prior: LevelledPrior, epsilon: float, exponent: int) -> float:
    """The definition on a fine grid that holds every event, with the double nearest to e^eps."""
    x, r, w = prior.inputs, prior.radii, prior.weights / prior.weights.sum()
    events = np.concatenate([x, x - r, x + r])
    grid = np.unique(np.concatenate([np.linspace(-2, 3, 20_001), events]))
    excess = np.abs(grid[:, None] - x) ** exponent - r**exponent
    least = float((np.minimum(excess, math.exp(epsilon) * excess) @ w).min())
    return float(w @ r**exponent) + min(least, least / math.exp(epsilon))


@st.composite
def levelled(draw: st.DrawFn) -> LevelledPrior:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(1, 12))
    return LevelledPrior(rng.random(count), rng.random(count) * 0.5, rng.random(count) + 1e-3)


@given(levelled(), st.floats(0.05, 5.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=120)
def test_the_value_is_the_definition_s(prior: LevelledPrior, epsilon: float, exponent: int) -> None:
    value, brute = float(prior.least_worst_case(epsilon, exponent)), _brute(prior, epsilon, exponent)
    assert value <= brute + 1e-12
    # between grid points, 2.5e-4 apart, a quadratic of curvature up to 2c dips by at most c (spacing / 2)^2
    dip = 0.0 if exponent == 1 else math.exp(epsilon) * 1.25e-4**2
    assert value >= brute - dip - 1e-12


@given(levelled(), st.floats(0.05, 5.0), st.sampled_from([1, 2]))
@settings(deadline=None, max_examples=40)
def test_no_published_mechanism_beats_the_bound(prior: LevelledPrior, epsilon: float, exponent: int) -> None:
    loss = Power(float(exponent))
    value = float(prior.least_worst_case(epsilon, exponent))
    for entry in catalogue.ON_INTERVALS:
        assert entry.build(epsilon, UNIT, loss).worst_case(loss)[0] >= value - 1e-12


def test_scaling_the_weights_changes_nothing() -> None:
    x, r, w = np.array([0.0, 1.0]), np.array([0.3, 0.3]), np.array([0.25, 0.75])
    first, second = (LevelledPrior(x, r, scale * w).least_worst_case(1.0, 1) for scale in (1.0, 8.0))
    assert first == second


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"radii": np.array([0.1])}, "an input, a radius and a weight"),
        ({"radii": np.array([-0.1, 0.1])}, "at least 0"),
        ({"weights": np.array([0.0, 0.0])}, "positive sum"),
        ({"weights": np.array([math.nan, 1.0])}, "finite"),
    ],
)
def test_malformed_atoms_are_rejected(change: dict[str, object], word: str) -> None:
    fields = {"inputs": np.array([0.0, 1.0]), "radii": np.array([0.3, 0.3]), "weights": np.array([0.5, 0.5])}
    with pytest.raises(InvalidInput, match=word):
        LevelledPrior(**(fields | change))
