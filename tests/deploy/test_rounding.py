"""Counts: rounded without losing or gaining any, between their bounds."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.deploy.rounding import base_and_caps, between, cumulative
from mechdesign.errors import InvalidInput

masses = st.lists(st.integers(1, 10**6), min_size=1, max_size=12)


@given(masses, st.integers(1, 10**9))
def test_running_sums_are_within_half_a_count(weights, target):
    total, counts = sum(weights), cumulative(weights, sum(weights), Fraction(target))
    assert sum(counts) == target
    reached, exact = 0, Fraction(0)
    for count, weight in zip(counts, weights, strict=True):
        reached, exact = reached + count, exact + Fraction(weight * target, total)
        assert abs(reached - exact) <= Fraction(1, 2)


@given(masses, st.floats(1.0001, 50), st.floats(0, 1), st.sampled_from((16, 32, 62)))
def test_rows_can_sum_to_the_whole(weights, ratio, share, bits):
    cap = int(ratio * 2**60) << 36
    unit = int(sum(weights) * (1 + (ratio - 1) * share)) + 1  # total / unit between about 1 / ratio and 1
    counts, caps = base_and_caps(weights, unit, bits, cap)
    assert sum(counts) <= 2**bits <= sum(caps)
    assert all(most == cap * least >> 96 for least, most in zip(counts, caps, strict=True))


def test_a_base_that_loses_too_much_to_its_caps_is_scaled_up():
    counts, caps = base_and_caps([1] * 1000, 2000, 16, int(2.0 * 2**96) - 1)
    assert sum(counts) > 2**15
    assert sum(caps) >= 2**16


@given(st.data())
def test_counts_between_bounds_sum_to_the_total(data):
    size = data.draw(st.integers(1, 8))
    least = data.draw(st.lists(st.integers(0, 50), min_size=size, max_size=size))
    most = [low + data.draw(st.integers(0, 50)) for low in least]
    wanted = data.draw(st.lists(st.integers(-10, 120), min_size=size, max_size=size))
    total = data.draw(st.integers(sum(least), sum(most)))
    counts = between(wanted, least, most, total)
    assert sum(counts) == total
    assert all(low <= count <= high for low, count, high in zip(least, counts, most, strict=True))


def test_counts_that_fit_are_left_alone():
    assert between([3, 4, 5], [1, 1, 1], [9, 9, 9], 12) == [3, 4, 5]


def test_totals_out_of_reach_are_refused():
    with pytest.raises(InvalidInput, match="lie between 3 and 6"):
        between([1, 1, 1], [1, 1, 1], [2, 2, 2], 7)
