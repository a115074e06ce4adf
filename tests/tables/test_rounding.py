"""Counts: rounded without losing or gaining any, between their bounds."""

import math
from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.catalogue import randomised_response
from mechdesign.tables import make_table
from mechdesign.tables.rounding import base_and_caps, between, cumulative, stretch_means
from mechdesign.words.domains import Finite

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
    unit = math.floor(sum(weights) * (1 + (Fraction(cap, 2**96) - 1) * Fraction(share)))  # from 1 / ratio to 1 of it
    try:
        counts, caps = base_and_caps(weights, unit, bits, cap)
    except InvalidInput:
        with pytest.raises(InvalidInput, match="take 32 bits"):
            base_and_caps(weights, unit, bits, cap)
        bits = 32
        counts, caps = base_and_caps(weights, unit, bits, cap)
    assert sum(counts) <= 2**bits <= sum(caps)
    assert all(most == cap * least >> 96 for least, most in zip(counts, caps, strict=True))


@given(masses, st.sampled_from((16, 32)), st.floats(0.05, 1))
@example([1, 33541], 16, 0.12056010895348372)
def test_a_base_that_its_caps_do_not_need_to_grow_is_rounded_up_but_for_a_sliver(weights, bits, share):
    unit = math.ceil(sum(weights) / Fraction(share))
    counts, _ = base_and_caps(weights, unit, bits, 2**12 << 96)
    assert sum(counts) == math.ceil(Fraction(2**bits * sum(weights), unit) - Fraction(1, 1024))
    assert sum(counts) <= 2**bits


def test_a_base_that_would_have_to_fill_the_table_is_refused():
    with pytest.raises(InvalidInput, match=r"number of outputs at this eps .*; take 32 bits"):
        base_and_caps([1] * 2000, 2010, 16, int(1.01 * 2**96))


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 20)), min_size=1, max_size=8),
    st.lists(st.integers(1, 9), min_size=1, max_size=9),
)
def test_stretches_keep_the_mean_and_the_order(pairs, counts):
    values, weights = zip(*sorted(pairs), strict=True)
    means = stretch_means(values, weights, counts)
    assert means == sorted(means)
    total = sum(count * mean for count, mean in zip(counts, means, strict=True))
    assert total / sum(counts) == Fraction(sum(v * w for v, w in zip(values, weights, strict=True)), sum(weights))


def test_a_stretch_within_one_value_has_that_mean():
    assert stretch_means([0, 3, 7], [2, 1, 1], [1, 1, 1, 1]) == [0, 0, 3, 7]
    assert stretch_means([0, 3, 7], [2, 1, 1], [2, 2]) == [0, 5]


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


def test_a_base_below_one_count_is_refused_with_the_bits_it_takes():
    with pytest.raises(InvalidInput, match="take 53 bits"):
        make_table(randomised_response(40.0, Finite((0, 1, 2))))
    with pytest.raises(InvalidInput, match="take fewer outputs or a larger eps"):
        make_table(randomised_response(60.0, Finite((0, 1, 2))), bits=62)
