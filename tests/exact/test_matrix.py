"""Bounds for loss matrices are the formula exactly, and errors are exact, whatever the numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.errors import CheckFailed
from mechdesign.exact.matrix import exact_errors, least_weighted_loss, matrix_bound, matrix_error
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Discrete
from mechdesign.words.domains import Finite

Floats = np.ndarray


def naive(
    epsilon: float, losses: Floats, levels: Floats, weights: Floats, prior: Floats | None = None, cap: float = 0.0
) -> Fraction:
    """The formula of the docstring, one Fraction at a time."""
    rows = [[Fraction(entry) for entry in row] for row in losses.tolist()]
    places, free = ([Fraction(v) for v in array.tolist()] for array in (levels, weights))
    shares = [Fraction(0)] * len(rows) if prior is None else [Fraction(v) for v in prior.tolist()]
    both = [a + b for a, b in zip(free, shares, strict=True)]
    ratio = exp_upper(epsilon)
    terms = [
        sum(w * min(row[y] - v, ratio * (row[y] - v)) for w, row, v in zip(both, rows, places, strict=True))
        for y in range(len(rows[0]))
    ]
    least = min(terms) if min(terms) < 0 else min(terms) / ratio
    value = sum(w * v for w, v in zip(both, places, strict=True)) + least - sum(free) * Fraction(cap)
    value = value / sum(free) if prior is None else value / sum(shares)
    return max(value, min(map(min, rows)))


numbers = st.floats(0, 8, allow_subnormal=True)


@settings(max_examples=200, deadline=None)
@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.sampled_from([1e-3, 0.5, 2.0, 10.0]))
def test_the_value_is_the_formula_exactly(data: st.DataObject, inputs: int, outputs: int, epsilon: float) -> None:
    losses = np.array(data.draw(st.lists(numbers, min_size=inputs * outputs, max_size=inputs * outputs)))
    vectors = [np.array(data.draw(st.lists(numbers, min_size=inputs, max_size=inputs))) for _ in range(3)]
    levels, weights, prior = vectors[0], vectors[1] + 1e-3, vectors[2] + 1e-3
    table = losses.reshape(inputs, outputs)
    assert matrix_bound(epsilon, table, levels, weights) == naive(epsilon, table, levels, weights)
    average = epsilon, table, levels, 0 * weights, prior
    assert matrix_bound(*average) == naive(*average)
    capped = epsilon, table, levels, weights, prior, 3.0
    assert matrix_bound(*capped) == naive(*capped)


def test_losses_next_to_overflow_and_underflow_are_exact() -> None:
    losses = np.array([[1e300, 5e-324], [0.0, 1e300]])
    atoms = np.array([5e-324, 0.0]), np.array([1.0, 1e-300])
    assert matrix_bound(1.0, losses, *atoms) == naive(1.0, losses, *atoms)


def test_errors_are_exact_for_rows_that_do_not_sum_to_one_in_doubles() -> None:
    table = [[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]]
    law = Discrete(5.0, Finite((0, 1)), Finite((0, 1, 2)), table)
    rows = [[Fraction(p) for p in row] for row in table]
    losses = np.array([[0.3, 1.0, 2.0], [1.0, 0.1, 0.7]])
    expected = [
        sum(p * Fraction(v) for p, v in zip(row, costs, strict=True)) / sum(row)
        for row, costs in zip(rows, losses.tolist(), strict=True)
    ]
    assert exact_errors(law, losses) == expected
    assert matrix_error(law, losses) == max(expected)
    assert matrix_error(law, losses, np.array([0.1, 0.3])) == (
        (Fraction(0.1) * expected[0] + Fraction(0.3) * expected[1]) / (Fraction(0.1) + Fraction(0.3))
    )


def test_outputs_are_columns_by_number() -> None:
    law = Discrete(5.0, Finite((0,)), Finite((1, 2)), [[0.25, 0.75]])
    assert exact_errors(law, np.array([[100.0, 1.0, 2.0]])) == [Fraction(7, 4)]


def test_weights_add_up_without_rounding() -> None:
    one, tiny = np.array([1.0]), np.array([2.0**-80])
    losses = np.array([[1.0]])
    assert least_weighted_loss(1.0, losses, np.array([1.0]), one, tiny) == 1 + Fraction(1, 2**80)


PAIR, ONES = np.array([[0.0, 1.0], [1.0, 0.0]]), np.ones(2)


@pytest.mark.parametrize(
    ("levels", "weights", "prior", "cap"),
    [
        (np.ones(3), np.ones(3), None, None),
        (ONES, np.array([1.0, -1.0]), None, None),
        (ONES, 0 * ONES, None, None),
        (ONES, 0 * ONES, 0 * ONES, None),
        (ONES, 0 * ONES, np.ones(3), None),
        (ONES, 0 * ONES, np.array([2.0, -1.0]), None),
        (ONES, ONES, ONES, None),
        (ONES, ONES, None, 1.0),
    ],
)
def test_weights_that_prove_nothing_are_refused(
    levels: Floats, weights: Floats, prior: Floats | None, cap: float | None
) -> None:
    with pytest.raises(CheckFailed):
        matrix_bound(1.0, PAIR, levels, weights, prior, cap)
