"""Doubles as integers: exact, whatever their magnitudes."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, strategies as st

from mechdesign.values.dyadic import dyadic


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
def test_integers_over_the_common_scale_are_the_doubles(values: list[float]) -> None:
    integers, shift = dyadic(values)
    assert [Fraction(n, 1 << shift) for n in integers] == [Fraction(value) for value in values]


def test_no_values_have_no_integers() -> None:
    assert dyadic([])[0] == []
