"""The bound for all mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign import Interval, InvalidInput, Power, catalogue
from mechdesign.design.minimax.proof import MinimaxBound

UNIT = Interval(0, 1)


def _brute(bound: MinimaxBound) -> float:
    """The definition on a fine grid that holds every event, with the double nearest to e^eps."""
    x, r, w = bound.inputs, bound.radii, bound.weights / bound.weights.sum()
    events = np.concatenate([x, x - r, x + r])
    grid = np.unique(np.concatenate([np.linspace(-2, 3, 20_001), events]))
    excess = np.abs(grid[:, None] - x) ** bound.exponent - r**bound.exponent
    least = float((np.minimum(excess, math.exp(bound.epsilon) * excess) @ w).min())
    return float(w @ r**bound.exponent) + min(least, least / math.exp(bound.epsilon))


@st.composite
def bounds(draw: st.DrawFn) -> MinimaxBound:
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(1, 12))
    epsilon, exponent = draw(st.floats(0.05, 5.0)), draw(st.sampled_from([1, 2]))
    return MinimaxBound(
        epsilon, exponent, 0.0, 1.0, rng.random(count), rng.random(count) * 0.5, rng.random(count) + 1e-3
    )


@given(bounds())
@settings(deadline=None, max_examples=120)
def test_the_value_is_the_definition_s(bound: MinimaxBound) -> None:
    value, brute = float(bound.value()), _brute(bound)
    assert value <= brute + 1e-12
    # between grid points, 2.5e-4 apart, a quadratic of curvature up to 2c dips by at most c (spacing / 2)^2
    dip = 0.0 if bound.exponent == 1 else math.exp(bound.epsilon) * 1.25e-4**2
    assert value >= brute - dip - 1e-12


@given(bounds())
@settings(deadline=None, max_examples=40)
def test_no_published_mechanism_beats_the_bound(bound: MinimaxBound) -> None:
    loss, value = Power(float(bound.exponent)), float(bound.value())
    for entry in catalogue.ON_INTERVALS:
        assert entry.build(bound.epsilon, UNIT, loss).worst_case(loss)[0] >= value - 1e-12


def test_scaling_the_weights_changes_nothing() -> None:
    x, r, w = np.array([0.0, 1.0]), np.array([0.3, 0.3]), np.array([0.25, 0.75])
    first, second = (MinimaxBound(1.0, 1, 0.0, 1.0, x, r, scale * w).value() for scale in (1.0, 8.0))
    assert first == second


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"exponent": 3}, "1 or 2"),
        ({"inputs": np.array([0.0, 1.5])}, "lie in"),
        ({"radii": np.array([0.1])}, "an input, a radius and a weight"),
        ({"radii": np.array([-0.1, 0.1])}, "at least 0"),
        ({"weights": np.array([0.0, 0.0])}, "positive sum"),
        ({"weights": np.array([math.nan, 1.0])}, "finite"),
        ({"upper": 0.0}, "below"),
        ({"epsilon": -1.0}, "eps"),
    ],
)
def test_malformed_atoms_are_rejected(change: dict[str, object], word: str) -> None:
    fields = {
        "epsilon": 1.0,
        "exponent": 1,
        "lower": 0.0,
        "upper": 1.0,
        "inputs": np.array([0.0, 1.0]),
        "radii": np.array([0.3, 0.3]),
        "weights": np.array([0.5, 0.5]),
    }
    with pytest.raises(InvalidInput, match=word):
        MinimaxBound(**(fields | change))  # type: ignore[arg-type]
