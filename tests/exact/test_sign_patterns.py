"""The greatest lean of reports on sign patterns: against all sets of patterns, and bounds that are never below it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.exact import sign_patterns
from mechdesign.exact.rational import exp_upper
from mechdesign.exact.sign_patterns import lean_by_pairs, lean_by_sets, lean_by_squares, lean_by_tails

EPSILONS = (0.01, 0.5, 1.0, 1.3424, 2.0, 2.694, 3.0, 4.0, 6.0, 8.0)


@pytest.mark.parametrize("count", [1, 2, 3, 4])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_all_sets_of_patterns_have_the_lean_of_those_that_are_tried(count: int, epsilon: float) -> None:
    """Every one of up to 2^16 sets, by the definition."""
    patterns = np.array(list(product((1, -1), repeat=count)))
    sets = (np.arange(1 << len(patterns))[:, None] >> np.arange(len(patterns)) & 1).astype(float)
    rows = 1 + math.expm1(epsilon) * sets
    means = rows @ patterns / rows.sum(axis=1, keepdims=True)
    assert float(lean_by_sets(count, exp_upper(epsilon))) == pytest.approx((means**2).sum(axis=1).max(), rel=1e-12)


def test_the_sets_that_are_tried_are_those_with_all_patterns_above() -> None:
    """As many as there are regular Boolean functions (OEIS A132183)."""
    assert [sum(1 for _ in sign_patterns._upper_sets(count)) for count in range(1, 7)] == [3, 5, 10, 27, 119, 1173]


@given(
    st.integers(1, 5),
    st.floats(0.1, 6.0),
    st.lists(st.fractions(0, 4, max_denominator=64), min_size=5, max_size=5),
    st.fractions(0, 8, max_denominator=64),
    st.fractions(-1, 2, max_denominator=64),
)
@settings(deadline=None, max_examples=150)
def test_no_prices_give_less_than_the_lean(
    count: int, epsilon: float, prices: list[Fraction], slope: Fraction, size: Fraction
) -> None:
    ratio = exp_upper(epsilon)
    assert lean_by_pairs(count, ratio, prices[:count], slope, size) >= lean_by_sets(count, ratio)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_inequalities_for_any_number_of_signs_are_never_below_the_lean(epsilon: float) -> None:
    ratio = exp_upper(epsilon)
    most = lean_by_sets(6, ratio)
    assert most <= lean_by_squares(ratio)
    assert most <= lean_by_tails(epsilon)


@pytest.mark.parametrize("count", [1, 2, 5, 9])
def test_krawtchouk_polynomials_are_means_of_products_of_signs(count: int) -> None:
    patterns = np.array(list(product((1, -1), repeat=count)))
    away = (patterns < 0).sum(axis=1)
    for distance, level in product(range(count + 1), repeat=2):
        mean = patterns[away == distance][:, :level].prod(axis=1).mean()
        assert float(sign_patterns.krawtchouk(count, distance, level)) == pytest.approx(mean, abs=1e-12)
