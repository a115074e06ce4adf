"""Maxima and integrals of functions that are smooth between known breaks."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.mechanisms import smooth


@settings(max_examples=100, deadline=None)
@given(st.lists(st.floats(-5, 5), min_size=1, max_size=7), st.floats(-10, 10), st.floats(0.1, 10))
def test_polynomials_are_maximised_and_integrated_to_rounding(coefficients, start, width):
    polynomial = np.polynomial.Polynomial(coefficients, domain=[start, start + width], window=[-1, 1])
    grid = np.linspace(start, start + width, 2001)
    size = sum(map(abs, coefficients)) + 1e-300
    value, at = smooth.maximum(polynomial, [start, start + width])
    assert value == pytest.approx(float(polynomial(at)), abs=1e-13 * size)
    assert value >= polynomial(grid).max() - 1e-12 * size
    primitive = polynomial.integ()
    expected = primitive(start + width) - primitive(start)
    assert smooth.integral(polynomial, [start, start + width]) == pytest.approx(expected, abs=1e-12 * size * width)


@pytest.mark.parametrize("kink", [0.0, 1e-9, 0.1234567, 1 / 3, 0.5, 1 - 1e-9])
def test_hidden_kinks_are_found(kink):
    value, at = smooth.maximum(lambda x: 1 - np.abs(x - kink), [0, 1])
    assert value == pytest.approx(1, abs=1e-9)
    assert at == pytest.approx(kink, abs=1e-9)
    expected = 1 - (kink**2 + (1 - kink) ** 2) / 2
    assert smooth.integral(lambda x: 1 - np.abs(x - kink), [0, 1]) == pytest.approx(expected, abs=1e-11)


def test_hidden_jumps_are_integrated():
    assert smooth.integral(lambda x: np.where(x > 1 / 3, 2.0, 1.0), [0, 1]) == pytest.approx(5 / 3, abs=1e-10)


def test_smooth_functions_that_oscillate_are_followed():
    value, _ = smooth.maximum(lambda x: np.sin(50 * x) * x, [0, 3])
    grid = np.linspace(0, 3, 200_001)
    assert value >= (np.sin(50 * grid) * grid).max() - 1e-12
    expected = math.sin(150) / 2500 - 3 * math.cos(150) / 50
    assert smooth.integral(lambda x: np.sin(50 * x) * x, [0, 3]) == pytest.approx(expected, abs=1e-12)


def test_far_away_ranges_lose_nothing():
    value, at = smooth.maximum(lambda x: 1 - (x - 1e6 - 0.3) ** 2, [1e6, 1e6 + 1])
    assert (value, at) == (pytest.approx(1, abs=1e-12), pytest.approx(1e6 + 0.3, abs=1e-6))


def test_constants_are_their_own_maximum_and_integral():
    assert smooth.maximum(lambda x: np.full(np.shape(x), 2.5), [0, 4])[0] == 2.5
    assert smooth.integral(lambda x: np.full(np.shape(x), 2.5), [0, 1, 4]) == pytest.approx(10, rel=1e-14, abs=0)


def test_the_order_and_repetition_of_breaks_do_not_matter():
    assert smooth.integral(np.exp, [1, 0, 0.5, 0.5]) == pytest.approx(math.e - 1, rel=1e-14, abs=0)


def test_functions_smooth_nowhere_are_reported():
    rng = np.random.default_rng(0)
    with pytest.raises(CheckFailed, match="not smooth"):
        smooth.integral(lambda x: rng.random(np.shape(x)), [0, 1])
