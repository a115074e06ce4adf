"""The dips of G in doubles against its least value in rationals, and against a dense scan."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.methods.minimax.least_favourable import dips_of

FINE = 64


@st.composite
def symmetric_atoms(draw: st.DrawFn) -> LevelledPrior:
    count = draw(st.integers(1, 6))
    grid = st.lists(st.integers(0, FINE // 2), min_size=count, max_size=count)
    inputs, radii = np.array(draw(grid)) / FINE, np.array(draw(grid)) / FINE
    weights = np.array(draw(st.lists(st.integers(1, 9), min_size=count, max_size=count)), dtype=float)
    halves = weights / weights.sum() / 2
    return LevelledPrior(np.concatenate([inputs, 1 - inputs]), np.tile(radii, 2), np.tile(halves, 2))


def _scan(atoms: LevelledPrior, exponent: float, ratio: float, places: np.ndarray) -> np.ndarray:
    gap = np.abs(places[:, None] - atoms.inputs) ** exponent - atoms.radii**exponent
    return np.minimum(gap, ratio * gap) @ atoms.weights


@given(symmetric_atoms(), st.sampled_from([1, 2]), st.floats(0.2, 4.0))
@settings(deadline=None, max_examples=100)
def test_the_deepest_dip_is_the_exact_least_value(atoms: LevelledPrior, exponent: int, epsilon: float) -> None:
    deepest = float(dips_of(atoms, FINE, float(exponent), math.exp(epsilon))[1].min())
    level = float(atoms.weights @ atoms.radii**exponent)
    assert level + min(deepest, deepest / math.exp(epsilon)) == pytest.approx(
        float(atoms.least_worst_case(epsilon, exponent)), abs=1e-12
    )


@given(symmetric_atoms(), st.sampled_from([1.0, 1.5, 2.0, 3.0]), st.floats(0.2, 4.0))
@settings(deadline=None, max_examples=100)
def test_no_place_is_deeper_and_dips_are_values_of_the_function(
    atoms: LevelledPrior, exponent: float, epsilon: float
) -> None:
    ratio = math.exp(epsilon)
    places, values = dips_of(atoms, FINE, exponent, ratio)
    assert (np.diff(places) >= 0).all()
    assert _scan(atoms, exponent, ratio, np.linspace(-0.6, 1.6, 1501)).min() >= values.min() - 1e-12
    np.testing.assert_allclose(_scan(atoms, exponent, ratio, places), values, atol=1e-10)
