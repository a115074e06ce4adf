"""The least of sums of paraboloids that count c times below 0: against all choices of signs."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.paraboloids import least_in_space


def least_of_all(shares, slopes, levels, axes, ratio):
    """Every choice of 1 or c for each paraboloid is one paraboloid, above the sum and equal to it somewhere."""
    found = []
    for row in product((Fraction(1), ratio), repeat=len(shares)):
        mass = sum(z * Fraction(p) for z, p in zip(row, shares, strict=True))
        sums = [sum(z * Fraction(x) for z, x in zip(row, column, strict=True)) for column in slopes.T.tolist()]
        level = sum(z * Fraction(n) for z, n in zip(row, levels, strict=True))
        found.append(level - sum(Fraction(w) * s * s for w, s in zip(axes, sums, strict=True)) / mass)
    return min(found)


@st.composite
def asked(draw):
    number = st.integers(-64, 64).map(lambda n: n / 16)
    count, rank = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    numbers = lambda size: np.array(draw(st.lists(number, min_size=size, max_size=size)))  # noqa: E731
    shares = abs(numbers(count))
    shares[0] += 0.5
    slopes, levels, axes = numbers(count * rank).reshape(count, rank), numbers(count), abs(numbers(rank)) + 0.25
    return shares / shares.sum(), slopes, levels, axes, Fraction(draw(st.integers(9, 200)), 8)


@given(asked())
def test_the_level_is_below_every_choice_and_at_most_twice_the_least(sizes):
    level = Fraction(least_in_space(*sizes).level)
    least = least_of_all(*sizes)
    lengths = np.sqrt(sizes[1] ** 2 @ sizes[3]).sum()
    first = Fraction(2.0**-29) * Fraction(float(abs(sizes[2]).sum() + lengths**2 + 1e-200))
    assert level <= least
    assert level >= 2 * min(least, Fraction(0)) - 2 * first


@given(asked())
def test_places_are_where_the_sum_is_below_nothing(sizes):
    shares, slopes, levels, axes, ratio = sizes
    places = least_in_space(*sizes).places
    terms = (places**2 @ axes)[:, None] * shares - 2 * (places * axes) @ slopes.T + levels
    assert (np.minimum(terms, float(ratio) * terms).sum(axis=1) < 0).all()


def test_a_narrow_least_value_far_away_is_found():
    shares, slopes = np.array([0.5, 0.5]), np.array([[300.0, -200.0], [300.0 + 1e-3, -200.0]])
    levels = 2 * (slopes**2).sum(axis=1) - 1e-6
    sizes = shares, slopes, levels, np.ones(2), Fraction(5)
    assert least_in_space(*sizes).level <= least_of_all(*sizes) < 0


@pytest.mark.parametrize("huge", [2e153, 1e160, 1e200, 1e308])
def test_numbers_too_large_for_doubles_are_refused(huge):
    with pytest.raises(CheckFailed):
        least_in_space(np.ones(1), np.array([[huge, huge]]), np.ones(1), np.ones(2), Fraction(3))
