"""The lower bound for the worst variance of all unbiased mechanisms, against its formula and against mechanisms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import CheckFailed, Interval, InvalidInput, Squared, catalogue
from mechdesign.methods.unbiased_worst.proof import UnbiasedWorstBound
from tests.methods import problems

SYMMETRIC = catalogue.SYMMETRIC

atoms = st.lists(
    st.tuples(st.floats(-1, 1), st.floats(0.125, 1), st.floats(-4, 4), st.floats(-4, 4)), min_size=1, max_size=4
)


def _bound(rows: list[tuple[float, float, float, float]]) -> UnbiasedWorstBound:
    return UnbiasedWorstBound(*(list(column) for column in zip(*rows, strict=True)))


@given(atoms, st.floats(0.1, 6.0))
@settings(deadline=None, max_examples=100)
def test_the_bound_is_that_of_the_page(rows: list[tuple[float, float, float, float]], epsilon: float) -> None:
    """G on a fine grid, which is never below its least value and little above it."""
    ratio, y = math.exp(epsilon), np.linspace(-60, 60, 240_001)
    mirrored = rows + [(-x, p, -b, -s) for x, p, b, s in rows]
    terms = [(y - x - b) * (p * (y - x) + s) for x, p, b, s in mirrored]
    least = float(sum(np.minimum(term, ratio * term) for term in terms).min())
    expected = (sum(b * s for _, _, b, s in mirrored) + min(least, least / ratio)) / sum(p for _, p, _, _ in mirrored)
    room = ratio * 5e-4**2 * len(mirrored) / sum(p for _, p, _, _ in mirrored)
    assert expected - room - 1e-9 <= float(_bound(rows).value(epsilon)) <= expected + 1e-9 * (1 + abs(expected))


@given(atoms, st.floats(0.1, 6.0))
@settings(deadline=None, max_examples=60)
def test_no_published_unbiased_mechanism_is_below_any_bound(
    rows: list[tuple[float, float, float, float]], epsilon: float
) -> None:
    bound = float(_bound(rows).value(epsilon))
    for mechanism in (catalogue.duchi(epsilon), catalogue.pm(epsilon), catalogue.hm(epsilon)):
        assert bound <= mechanism.worst_case(Squared())[0] * (1 + 1e-9)


def test_a_bound_is_scaled_to_the_inputs() -> None:
    bound = UnbiasedWorstBound([1.0], [1.0], [-2.0], [-1.0])
    unit, wide = (bound.bound(problems.unbiased(1.0, Interval(*ends)), None) for ends in ((-1, 1), (3, 9)))
    assert wide == pytest.approx(9 * unit)


@pytest.mark.parametrize(
    ("columns", "error"),
    [
        (([1.5], [1.0], [0.0], [0.0]), InvalidInput),
        (([1.0], [-1.0], [0.0], [0.0]), InvalidInput),
        (([1.0], [0.0], [0.0], [1.0]), InvalidInput),
        (([1.0], [1.0], [math.nan], [0.0]), InvalidInput),
        (([1.0, 0.0], [1.0], [0.0], [0.0]), InvalidInput),
    ],
)
def test_columns_that_are_no_weights_on_inputs_are_refused(columns: tuple[Any, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        UnbiasedWorstBound(*columns)


def test_other_problems_and_mechanisms_are_refused() -> None:
    bound = UnbiasedWorstBound([1.0], [1.0], [-2.0], [-1.0])
    for method in (bound.bound, bound.attained, bound.scope):
        with pytest.raises(CheckFailed, match="about another problem: mechanisms must be among"):
            method(problems.piecewise(1.0, "squared"), catalogue.pm(1.0))
    with pytest.raises(CheckFailed, match="UnbiasedWindow"):
        bound.attained(problems.unbiased(1.0, SYMMETRIC), catalogue.pm(1.0))
