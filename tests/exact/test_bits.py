"""Bounds of a quadratic in bits, against every choice of bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.bits import (
    MOST_BITS,
    BitQuadratic,
    are_alike,
    greatest_of_alike,
    greatest_of_all,
    shift_by_squares,
)

NUMBERS = st.integers(-(10**30), 10**30)


def _value(quadratic: BitQuadratic, bits: tuple[int, ...]) -> Fraction:
    b = np.array(bits, dtype=object)
    return int(quadratic.constant + quadratic.linear @ b + b @ quadratic.pairs @ b) * quadratic.unit


def _quadratic(numbers: list[int], size: int, unit: Fraction = Fraction(1, 7)) -> BitQuadratic:
    pairs = np.zeros((size, size), dtype=object)
    pairs[np.triu_indices(size, 1)] = numbers[: size * (size - 1) // 2]
    return BitQuadratic(numbers[-1], np.array(numbers[-1 - size : -1], dtype=object), pairs, unit)


def _best(quadratic: BitQuadratic) -> Fraction:
    return max(_value(quadratic, bits) for bits in product((0, 1), repeat=len(quadratic.linear)))


@given(st.integers(1, 5), st.lists(NUMBERS, min_size=21, max_size=21))
def test_trying_all_finds_the_greatest(size: int, numbers: list[int]) -> None:
    quadratic = _quadratic(numbers, size)
    best = _best(quadratic)
    scale = sum(map(abs, numbers)) * quadratic.unit
    assert best <= greatest_of_all(quadratic) <= best + scale / 10**14


@given(st.integers(1, 5), NUMBERS, NUMBERS, NUMBERS)
def test_of_bits_that_are_alike_only_the_sum_matters(size: int, constant: int, one: int, two: int) -> None:
    numbers = [two] * (size * (size - 1) // 2) + [0] * 30 + [one] * size + [constant]
    quadratic = _quadratic(numbers, size)
    assert are_alike(quadratic)
    assert greatest_of_alike(quadratic) == _best(quadratic)


@given(
    st.integers(1, 4),
    st.lists(NUMBERS, min_size=21, max_size=21),
    st.lists(st.floats(0, 1e30), min_size=48, max_size=48),
    st.lists(st.floats(-1e30, 1e30), min_size=4, max_size=4),
)
def test_a_shift_by_squares_holds_for_all_bits_whatever_the_multipliers(
    size: int, numbers: list[int], products: list[float], diagonal: list[float]
) -> None:
    quadratic = _quadratic(numbers, size)
    multipliers = np.array(products[: 3 * size * size]).reshape(3, size, size)
    multipliers[1][np.diag_indices(size)] = diagonal[:size]
    shift = shift_by_squares(quadratic, multipliers)
    for bits in product((0, 1), repeat=size):
        assert _value(quadratic, bits) <= shift * (1 + sum(bits))


def test_multipliers_below_nothing_are_refused() -> None:
    quadratic = _quadratic([1] * 21, 2)
    bad = np.zeros((3, 2, 2))
    bad[0, 0, 1] = -1.0
    with pytest.raises(CheckFailed, match="at least 0"):
        shift_by_squares(quadratic, bad)


def test_too_many_bits_are_not_tried() -> None:
    size = MOST_BITS + 1
    with pytest.raises(CheckFailed, match="too many"):
        greatest_of_all(_quadratic([1] * (size * size + size + 1), size))
