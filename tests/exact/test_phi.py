"""Sums of phi are exact."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given, settings, strategies as st

from mechdesign.exact.phi import phi_sum


@given(st.lists(st.integers(-(10**30), 10**30)), st.fractions(1, 50))
@settings(deadline=None)
def test_the_sum_is_that_of_the_terms(numbers: list[int], ratio: Fraction) -> None:
    assert phi_sum(numbers, ratio) == sum((min(n, ratio * n) for n in numbers), Fraction(0))
