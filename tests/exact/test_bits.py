"""Bounds of a quadratic in bits, against every choice of bits."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, strategies as st

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


@given(
    st.integers(1, 4),
    st.lists(NUMBERS, min_size=21, max_size=21),
    st.lists(st.floats(0, 1e30), min_size=3, max_size=3),
    st.lists(st.integers(-9, 9), min_size=15, max_size=15),
)
def test_a_shift_with_splits_holds_for_all_bits_whatever_the_splits(
    size: int, numbers: list[int], weights: list[float], entries: list[int]
) -> None:
    quadratic = _quadratic(numbers, size)
    rows = [[weight, *entries[5 * i : 5 * i + 1 + size]] for i, weight in enumerate(weights)]
    shift = shift_by_squares(quadratic, np.zeros((3, size, size)), np.array(rows, dtype=float))
    for bits in product((0, 1), repeat=size):
        assert _value(quadratic, bits) <= shift * (1 + sum(bits))


def test_a_split_shows_what_products_alone_do_not() -> None:
    # one of two bits at most differs from one half by less than a half: (b_1 + b_2 - 1)(b_1 + b_2 - 2) >= 0
    pairs = np.array([[0, -2], [0, 0]], dtype=object)
    least = BitQuadratic(-2, np.array([2, 2], dtype=object), pairs, Fraction(1))
    nothing = np.array([np.zeros((2, 2)), np.eye(2), np.zeros((2, 2))])
    split = np.array([[1.0, 1.0, 1.0, 1.0]])
    assert float(shift_by_squares(least, nothing, split)) < 1e-9 < 1e-2 < float(shift_by_squares(least, nothing))


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([-1.0, 0.0, 1.0, 1.0], "at least 0"),
        ([1.0, 0.5, 1.0, 1.0], "whole numbers"),
        ([1.0, 0.0, 0.5, 1.0], "whole numbers"),
        ([1.0, 0.0, 1.0], "rows of 4"),
        ([1.0, 0.0, 1.0, np.inf], "finite"),
    ],
)
def test_splits_that_cut_bits_off_are_refused(row: list[float], words: str) -> None:
    with pytest.raises(CheckFailed, match=words):
        shift_by_squares(_quadratic([1] * 21, 2), np.zeros((3, 2, 2)), np.array([row]))


@given(st.integers(1, 5), st.lists(NUMBERS, min_size=21, max_size=21), st.lists(st.booleans(), min_size=5, max_size=5))
def test_fixed_bits_leave_the_same_values(size: int, numbers: list[int], chosen: list[bool]) -> None:
    quadratic = _quadratic(numbers, size)
    for bits in product((0, 1), repeat=size):
        fixed = {i: bits[i] for i in range(size) if chosen[i]}
        rest = tuple(bits[i] for i in range(size) if not chosen[i])
        assert _value(quadratic.fixed(fixed), rest) == _value(quadratic, bits)


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


@pytest.mark.parametrize("chunk", [1, 2, 3, 5, 64])
def test_bits_tried_in_parts_are_all_tried(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greatest lies at every place in turn: it is found whatever part it falls into."""
    monkeypatch.setattr("mechdesign.exact.bits._CHUNK", chunk)
    for best in product((0, 1), repeat=4):
        signs = np.array([1 if bit else -1 for bit in best], dtype=object)
        quadratic = BitQuadratic(0, signs, np.zeros((4, 4), dtype=object), Fraction(1))
        assert greatest_of_all(quadratic) == sum(best)


@pytest.mark.parametrize("size", [1, 2, 5, 9])
def test_the_shift_is_nearly_the_least_eigenvalue(size: int) -> None:
    """Without products it is the least s for which ``s y'y - F`` is positive semidefinite, y = (1, b)."""
    rng = np.random.default_rng(size)
    for unit in (Fraction(1), Fraction(3, 2**70), Fraction(2**80, 7)):
        numbers = [int(n) for n in rng.integers(-1000, 1000, size * (size + 1) // 2 + 1)]
        quadratic = _quadratic(numbers, size, unit)
        form = np.zeros((size + 1, size + 1))
        form[0, 0] = float(quadratic.constant)
        form[0, 1:] = form[1:, 0] = np.array(quadratic.linear, dtype=float) / 2
        form[1:, 1:] = np.array(quadratic.pairs + quadratic.pairs.T, dtype=float) / 2
        least = max(0.0, float(np.linalg.eigvalsh(form)[-1]))
        found = float(shift_by_squares(quadratic, np.zeros((3, size, size))) / unit)
        assert found == pytest.approx(least, abs=1e-8 * abs(form).max())


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_one_multiplier_that_is_no_number_is_refused(wrong: float) -> None:
    multipliers = np.zeros((3, 2, 2))
    multipliers[1, 0, 0] = wrong
    with pytest.raises(CheckFailed, match="three finite matrices of 2 x 2"):
        shift_by_squares(_quadratic([1, 2, 3, 4], 2), multipliers)
