"""Rational bounds of the exponential and directed rounding."""

from __future__ import annotations

import math
from decimal import Decimal, getcontext
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from mechdesign.exact.rational import exp_lower, exp_upper, float_down, float_up

getcontext().prec = 90


def _decimal_exp(x: float) -> Fraction:
    """e^x to 85 digits by an independent implementation (libmpdec)."""
    return Fraction(Decimal(x).exp())


@given(st.floats(min_value=-60, max_value=64, allow_nan=False))
def test_bounds_enclose_the_exponential(x: float) -> None:
    slack = Fraction(1, 10**80)
    value = _decimal_exp(x)
    assert exp_lower(x) <= value * (1 + slack)
    assert exp_upper(x) >= value * (1 - slack)


@given(st.floats(min_value=-60, max_value=64, allow_nan=False))
def test_bounds_are_as_tight_as_promised(x: float) -> None:
    lower, upper = exp_lower(x), exp_upper(x)
    assert lower < upper or x == 0
    assert (upper - lower) / lower < Fraction(1, 2**160)


def test_bounds_at_one_enclose_the_factorial_series() -> None:
    partial = sum(Fraction(1, math.factorial(k)) for k in range(30))
    remainder = Fraction(1, math.factorial(29))
    assert exp_lower(1) < partial + remainder
    assert exp_upper(1) > partial


def test_the_lower_bound_never_exceeds_the_upper_for_tiny_exponents() -> None:
    for x in (5e-324, 1e-300, 1e-30, 0.0):
        assert 1 <= exp_lower(x) <= exp_upper(x)


@given(st.fractions(min_value=-1000, max_value=1000))
def test_directed_rounding_brackets_the_fraction_with_neighbours(value: Fraction) -> None:
    down, up = float_down(value), float_up(value)
    assert Fraction(down) <= value <= Fraction(up)
    assert up in (down, math.nextafter(down, math.inf))


@pytest.mark.parametrize("value", [Fraction(1, 3), Fraction(-1, 3), Fraction(1, 10)])
def test_directed_rounding_is_strict_where_no_double_fits(value: Fraction) -> None:
    assert Fraction(float_down(value)) < value < Fraction(float_up(value))
