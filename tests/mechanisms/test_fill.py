"""The fill of a stretch: rounded and exact are one law, stretches are all there are, sums are those term by term."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.mechanisms.fill import ExactFill, Fill, filled, power_sum

BASES = st.lists(st.integers(1, 40), min_size=1, max_size=8)
RATIOS = st.sampled_from([1.25, 2.0, 3.5, 20.0])


def fills(counts: list[int], ratio: float, share: float) -> tuple[Fill, ExactFill]:
    """Both forms of one law; the total lies between 1/ratio and 1, by a share of the way."""
    base = np.array(counts) / sum(counts) * (1 / ratio + share * (1 - 1 / ratio))
    return Fill.over(np.arange(len(counts), dtype=float), base, ratio), ExactFill.over(base, ratio)


@given(BASES, RATIOS, st.floats(0.05, 0.95), st.floats(0, 1))
@settings(max_examples=100, deadline=None)
def test_the_exact_row_is_the_rounded_one_sums_to_one_and_keeps_the_band(
    counts: list[int], ratio: float, share: float, place: float
) -> None:
    rounded, exact = fills(counts, ratio, share)
    first, last = exact.stretches()[0].start, exact.stretches()[-1].start
    row = exact.row(first + Fraction(place) * (last - first))
    assert sum(row) == 1
    assert all(Fraction(low) <= q <= Fraction(ratio) * Fraction(low) for q, low in zip(row, rounded.base, strict=True))
    assert rounded.rows(np.array(place * rounded.last)).tolist() == pytest.approx([float(q) for q in row], abs=1e-12)


@given(BASES, RATIOS, st.floats(0.05, 0.95))
@settings(max_examples=100, deadline=None)
def test_stretches_are_where_an_end_meets_an_end_of_an_output(counts: list[int], ratio: float, share: float) -> None:
    _, fill = fills(counts, ratio, share)
    last = fill.reached[-1] - fill.extra
    places = {0, last, *fill.reached, *(place - fill.extra for place in fill.reached)}
    stretches = fill.stretches()
    assert [stretch.start for stretch in stretches] == sorted(place for place in places if 0 <= place <= last)
    for start, stop, left, right in stretches:
        assert stop == start + fill.extra
        assert fill.reached[left] <= start <= fill.reached[left + 1]
        assert fill.reached[right] <= stop <= fill.reached[right + 1]


@given(BASES, RATIOS, st.floats(0.05, 0.95))
@settings(max_examples=100, deadline=None)
def test_an_output_has_most_between_its_corners(counts: list[int], ratio: float, share: float) -> None:
    _, fill = fills(counts, ratio, share)
    for output in range(len(counts)):
        most = min(fill.gain(output), fill.extra)
        for start in (stretch.start for stretch in fill.stretches()):
            first, last = fill.corners(output)
            assert (fill.span(output, start) == most) == (first <= start <= last)


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(-20, 20)), min_size=1, max_size=7), st.integers(-25, 25))
def test_sums_of_powers_are_those_term_by_term(pairs: list[tuple[int, int]], x: int) -> None:
    pairs.sort(key=lambda pair: pair[1])
    points = [point for _, point in pairs]
    for power in (1, 2, 3):
        moments = [[0] for _ in range(power + 1)]
        for order, sums in enumerate(moments):
            for mass, point in pairs:
                sums.append(sums[-1] + mass * point**order)
        for count in range(len(pairs) + 1):
            split = min(sum(point < x for point in points), count)
            terms = (mass * abs(point - x) ** power for mass, point in pairs[:count])
            assert power_sum(moments, x, split, count) == sum(terms)


@given(st.lists(st.integers(0, 20), min_size=1, max_size=8), st.integers(0, 100))
def test_sizes_are_filled_in_order_until_the_room_is_spent(sizes: list[int], room: int) -> None:
    left, expected = room, []
    for size in sizes:
        expected.append(min(size, left))
        left -= expected[-1]
    assert filled(np.array(sizes, dtype=float), float(room)).tolist() == expected
