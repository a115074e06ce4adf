"""The lower bound for reports on a grid: against brute force, against mechanisms, and when tampered with."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mechdesign import Interval, InvalidInput, catalogue
from mechdesign.design.additive.proof import AdditiveBound, average_variance
from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.conditional import ConditionalNoise

EPSILON, RATIO = 1.0, 2.7
WEIGHTS = np.array([0.25, 0.5, 0.25])
BASE = np.array([0.05, 0.15, 0.02, 0.02, 0.04, 0.02, 0.02, 0.15, 0.05])
MECHANISM = ConditionalNoise(EPSILON, Interval(-1, 1), 2, 3, 1, BASE, RATIO)


def _bound(values: object, slopes: object, tail: int | None = None, weights: object = WEIGHTS) -> AdditiveBound:
    arrays = (np.array(numbers, dtype=float) for numbers in (weights, values, slopes))
    return AdditiveBound(EPSILON, -1.0, 1.0, 3, tail, *arrays)


def _level(bound: AdditiveBound, y: float) -> float:
    """``G(y)`` in doubles."""
    far = y - np.arange(bound.bins + 1)
    terms = bound.weights * far**2 - bound.slopes * far - bound.values
    return float(np.minimum(terms, math.exp(EPSILON) * terms).sum())


duals = st.lists(st.floats(-3, 3), min_size=3, max_size=3)


@given(duals, duals)
@settings(deadline=None)
def test_the_bound_is_at_most_that_of_all_whole_numbers_and_no_less_than_of_all_reals(
    values: list[float], slopes: list[float]
) -> None:
    bound = _bound(values, slopes)
    whole = min(_level(bound, y) for y in range(-400, 401))
    scale = WEIGHTS.sum() * bound.bins**2
    assert float(bound.value()) <= (sum(values) + min(0.0, whole)) / scale + 1e-9
    # near the inputs the whole numbers decide, and beyond them a parabola below G
    inside = min(_level(bound, y) for y in range(-3, 6))
    if inside <= min(_beyond(bound, 5, 1), _beyond(bound, -3, -1)):
        assert float(bound.value()) == pytest.approx((sum(values) + min(0.0, inside)) / scale, abs=1e-9)


def _beyond(bound: AdditiveBound, place: int, side: int) -> float:
    """The least of the parabola under G, on a fine net."""
    far = place - np.arange(bound.bins + 1)
    rises = side * (2 * bound.weights * far - bound.slopes)
    rise = float(np.minimum(rises, math.exp(EPSILON) * rises).sum())
    h = np.linspace(0, 100, 100_001)
    return float((_level(bound, place) + rise * h + bound.weights.sum() * h**2).min())


@given(duals, duals, st.sampled_from([None, 1]))
@settings(deadline=None, max_examples=300)
def test_no_multipliers_prove_more_than_a_mechanism_attains(
    values: list[float], slopes: list[float], tail: int | None
) -> None:
    bound = _bound(values, slopes, tail)
    assert bound.bound(MECHANISM) <= bound.attained(MECHANISM)


@given(duals, duals)
@settings(deadline=None)
def test_a_proof_against_the_same_tails_says_no_less_than_one_against_all(
    values: list[float], slopes: list[float]
) -> None:
    for tail in (1, 5):
        assert _bound(values, slopes, tail).value() >= _bound(values, slopes).value() - Fraction(1, 10**12)


def test_the_average_in_a_tail_is_the_sum_over_its_reports() -> None:
    """Where only the tails are below zero the bound is the level plus that sum, here by adding 4000 reports up."""
    slopes, tail = np.array([0.0, 0.0, 9.0]), 4
    weights = np.array([0.02, 0.02, 0.02])
    bound = _bound([0.0, 0.0, 0.0], slopes, tail, weights)
    n = np.arange(4000)
    law = (tail / (tail + 1)) ** n / (tail + 1)
    y = 5 + n
    terms = [law @ (p * (y - x) ** 2 - s * (y - x)) for x, (p, s) in enumerate(zip(weights, slopes, strict=True))]
    phi = sum(min(t, math.exp(EPSILON) * t) for t in terms)
    inside = min(_level(bound, float(place)) for place in range(-2, 5))
    assert phi < inside
    assert float(bound.value()) == pytest.approx(phi / (0.06 * 4), rel=1e-9)


def test_the_average_variance_is_that_of_the_laws() -> None:
    variances = MECHANISM.variance([-1.0, 0.0, 1.0])
    assert float(average_variance(MECHANISM, WEIGHTS)) == pytest.approx(float(WEIGHTS @ variances), rel=1e-12)


def test_the_bound_scales_with_the_square_of_the_domain() -> None:
    bound = _bound([0.5, 0.2, 0.5], [-0.3, 0.0, 0.3])
    assert bound.bound(MECHANISM) > 0
    wide = replace(bound, lower=-3.0, upper=3.0)
    assert wide.bound(MECHANISM) == pytest.approx(9 * bound.bound(MECHANISM), rel=1e-14)


def test_the_scope_says_which_tails_and_which_prior() -> None:
    free, tied = _bound([0, 0, 0], [0, 0, 0]), _bound([0, 0, 0], [0, 0, 0], 1)
    assert free.scope(MECHANISM) == "unbiased mechanisms with reports on the grid of 3 inputs"
    assert tied.scope(MECHANISM) == f"{free.scope(MECHANISM)} and tails of ratio 1/2 from 3 steps beyond them"
    assert replace(free, rounded=True).scope(MECHANISM).endswith("under the prior rounded to them")


def test_other_mechanisms_are_refused() -> None:
    bound = _bound([0, 0, 0], [0, 0, 0])
    for other in (catalogue.pm(1.0), replace(MECHANISM, inputs=Interval(0, 1))):
        with pytest.raises(CheckFailed):
            bound.attained(other)
    with pytest.raises(CheckFailed):
        replace(bound, tail=2).attained(MECHANISM)
    assert replace(bound, tail=1).attained(MECHANISM) == bound.attained(MECHANISM)
    with pytest.raises(CheckFailed):
        bound.statement(
            {
                "epsilon": EPSILON,
                "loss": "squared",
                "criterion": "average variance under the prior, unbiased",
                "inputs": {"kind": "interval", "lower": -1.0, "upper": 1.0},
                "bins": 2,
                "weights": WEIGHTS.tolist(),
                "rounded": False,
                "prior": "atoms",
            },
            catalogue.pm(1.0),
        )


def test_it_is_a_value_and_survives_a_file() -> None:
    for tail in (None, 2):
        bound = _bound([0.1, 0.2, 0.3], [0.0, -1.0, 1e-300], tail)
        again = AdditiveBound.from_dict(bound.to_dict())
        assert again == bound
        assert hash(again) == hash(bound)
    assert bound != replace(bound, reach=4)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"epsilon": -1.0}, "eps"),
        ({"upper": -1.0}, "domain"),
        ({"reach": 0}, "reach"),
        ({"tail": 0}, "tail"),
        ({"values": np.zeros(2)}, "values"),
        ({"slopes": np.array([0.0, math.nan, 0.0])}, "slopes"),
        ({"weights": np.array([0.5, -0.1, 0.6])}, "weights"),
        ({"weights": np.zeros(3)}, "weights"),
        ({"rounded": 1}, "rounded"),
    ],
)
def test_bad_fields_are_refused_by_name(change: dict[str, object], field: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        replace(_bound([0, 0, 0], [0, 0, 0]), **change)
    assert refused.value.field == field
