"""The lower bound for all piecewise mechanisms, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate

from mechdesign import Interval, InvalidInput, Power, catalogue
from mechdesign.design.piecewise.proof import BathtubAtom, BathtubBound, exact_error
from mechdesign.mechanisms import Piecewise


def _random_law(rng: np.random.Generator, cells: int, ratio: float, base: float) -> np.ndarray:
    """Any density on [0, 1] between ``base`` and ``ratio * base`` with mass one, constant on equal cells."""
    heights = base * (1 + (ratio - 1) * rng.random(cells))
    low, high = 0.0, 1.0
    for _ in range(200):  # move all heights towards an end of the band until the mass is one
        mix = (low + high) / 2
        towards = base if heights.mean() > 1 else ratio * base
        mixed = (1 - mix) * heights + mix * towards
        if (mixed.mean() > 1) == (heights.mean() > 1):
            low = mix
        else:
            high = mix
    return (1 - low) * heights + low * towards


@given(st.integers(0, 10**6), st.floats(0.05, 6.0), st.sampled_from([1, 2, 3]), st.floats(0.0, 1.0), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_no_law_in_the_band_beats_the_bound(seed: int, epsilon: float, exponent: int, x: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    ratio = math.exp(epsilon)
    base = 1 / ratio + share * (1 - 1 / ratio)
    law = _random_law(rng, 40, ratio, base)
    edges = np.linspace(0, 1, 41)
    error = float(np.sum(law * Power(exponent).integral(edges[:-1] - x, edges[1:] - x, x)))
    radius = float(rng.random())
    bound = BathtubBound(epsilon, exponent, 0.0, 1.0, (BathtubAtom(x, radius),)).value()
    assert float(bound) <= error + 1e-9


def test_the_bound_equals_a_quadrature_of_its_definition() -> None:
    epsilon, exponent, x, radius = 1.3, 2, 0.3, 0.4
    level, ratio = radius**exponent, math.exp(epsilon)
    gain = integrate.quad(
        lambda y: min(abs(y - x) ** exponent - level, ratio * (abs(y - x) ** exponent - level)),
        -1,
        2,
        points=[x - radius, x, x + radius],
    )[0]
    bound = BathtubBound(epsilon, exponent, -1.0, 2.0, (BathtubAtom(x, radius),)).value()
    expected = level + (gain / 3 if gain < 0 else gain / 3 / ratio)
    assert float(bound) == pytest.approx(expected, rel=1e-10)


def test_a_smaller_or_larger_radius_proves_less() -> None:
    best = BathtubBound(1.0, 1, 0.0, 1.0, (BathtubAtom(0.0, 0.3775406687),)).value()
    for radius in (0.3, 0.37, 0.385, 0.5):
        assert BathtubBound(1.0, 1, 0.0, 1.0, (BathtubAtom(0.0, radius),)).value() < best


@pytest.mark.parametrize(
    ("atoms", "word"),
    [
        ((), "at least one atom"),
        ((BathtubAtom(0.0, 0.5, 0.5),), "sum to exactly 1"),
        ((BathtubAtom(2.0, 0.5),), "among the outputs"),
        ((BathtubAtom(0.0, -0.5),), "at least 0"),
        ((BathtubAtom(0.0, 0.5, -1.0), BathtubAtom(0.0, 0.5, 2.0)), "at least 0"),
    ],
)
def test_atoms_that_prove_nothing_are_rejected(atoms: tuple[BathtubAtom, ...], word: str) -> None:
    with pytest.raises(InvalidInput, match=word):
        BathtubBound(1.0, 1, 0.0, 1.0, atoms)


@given(st.floats(0.1, 8.0), st.integers(1, 4), st.floats(0.0, 1.0))
@settings(deadline=None)
def test_exact_error_agrees_with_the_float_integrals(epsilon: float, exponent: int, x: float) -> None:
    mechanism = catalogue.ogpm_squared(epsilon)
    expected = float(mechanism.expected_loss(x, Power(exponent)))
    assert float(exact_error(mechanism, x, exponent)) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_exact_error_of_a_moved_window_agrees_with_the_float_integrals() -> None:
    mechanism = catalogue.pm(1.5, Interval(2, 7))
    for x in (2.0, 3.3, 7.0):
        assert float(exact_error(mechanism, x, 2)) == pytest.approx(float(mechanism.expected_loss(x, Power(2.0))))


def test_exact_error_is_a_rational_of_the_stored_heights() -> None:
    mechanism = Piecewise(1.0, Interval(0, 1), Interval(0, 1), 0.5, 1.25)
    width = Fraction(2, 3)  # (1 - 1/2) / (5/4 - 1/2)
    by_hand = Fraction(1, 2) * Fraction(1, 2) + Fraction(3, 4) * width**2 / 2
    assert exact_error(mechanism, 0.0, 1) == by_hand
