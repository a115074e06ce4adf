"""Integration between kinks."""

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.panels import integrate_between


@given(st.integers(0, 12), st.floats(-2, 2), st.floats(1e-3, 3))
def test_polynomials_are_integrated_to_rounding(degree, start, width):
    stop = start + width
    expected = (stop ** (degree + 1) - start ** (degree + 1)) / (degree + 1)
    size = max(abs(start), abs(stop)) ** (degree + 1)
    assert integrate_between(lambda y: y**degree, [start, stop]) == pytest.approx(expected, abs=1e-13 * size)


@pytest.mark.parametrize("power", [0.1, 0.5, 1.5, 2.7])
def test_roots_at_the_ends_do_no_harm(power):
    assert integrate_between(lambda y: y**power, [0.0, 2.0]) == pytest.approx(
        2 ** (power + 1) / (power + 1), rel=1e-10, abs=0
    )


def test_jumps_at_the_cuts_do_no_harm():
    assert integrate_between(lambda y: (y > math.pi) * 1.0, [0.0, math.pi, 10.0]) == pytest.approx(
        10 - math.pi, rel=1e-14
    )


def test_many_cuts_change_nothing():
    cuts = np.linspace(0, 3, 500)
    assert integrate_between(np.exp, cuts) == pytest.approx(math.expm1(3), rel=1e-13, abs=0)


@pytest.mark.parametrize("cuts", [[], [1.0], [2.0, 2.0]])
def test_no_width_is_no_integral(cuts):
    assert integrate_between(np.exp, cuts) == 0.0
