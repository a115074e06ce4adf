"""The lower bound for reports on a grid: against brute force, against mechanisms, and when tampered with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Interval, InvalidInput, Problem, catalogue
from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.methods.additive import AdditiveBound, Tails
from mechdesign.methods.additive.supports import grid_of
from mechdesign.methods.grid_prior import average_variance, weights_on_grid
from mechdesign.values.codec import Codec, encoded
from mechdesign.values.declare import evolved
from mechdesign.words.priors import Atoms
from tests.methods import problems

EPSILON, RATIO = 1.0, 2.7
WEIGHTS = np.array([0.25, 0.5, 0.25])
BASE = np.array([0.05, 0.15, 0.02, 0.02, 0.04, 0.02, 0.02, 0.15, 0.05])
MECHANISM = ConditionalNoise(EPSILON, Interval(-1, 1), 2, 3, 1, BASE, RATIO)


def _asked(tail: int = 1, weights: object = WEIGHTS, inputs: Interval = catalogue.SYMMETRIC) -> Problem:
    shares = np.array(weights, dtype=float)
    prior = Atoms(np.linspace(inputs.lower, inputs.upper, 3), shares / shares.sum())
    return problems.additive(EPSILON, prior, inputs, 2, 3, tail)


def _level(bound: AdditiveBound, y: float) -> float:
    """``G(y)`` in doubles."""
    far = y - np.arange(3)
    terms = WEIGHTS * far**2 - bound.slopes * far - bound.values
    return float(np.minimum(terms, math.exp(EPSILON) * terms).sum())


ASKED = _asked()
duals = st.lists(st.floats(-3, 3), min_size=3, max_size=3)


@given(duals, duals)
@settings(deadline=None)
def test_the_bound_is_at_most_that_of_all_whole_numbers_and_no_less_than_of_all_reals(
    values: list[float], slopes: list[float]
) -> None:
    bound = AdditiveBound(values, slopes, Tails.ALL)
    whole = min(_level(bound, y) for y in range(-400, 401))
    scale = WEIGHTS.sum() * 2**2
    assert float(bound.value(ASKED)) <= (sum(values) + min(0.0, whole)) / scale + 1e-9
    # near the inputs the whole numbers decide, and beyond them a parabola below G
    inside = min(_level(bound, y) for y in range(-3, 6))
    if inside <= min(_beyond(bound, 5, 1), _beyond(bound, -3, -1)):
        assert float(bound.value(ASKED)) == pytest.approx((sum(values) + min(0.0, inside)) / scale, abs=1e-9)


def _phi(numbers: list[Fraction], ratio: Fraction) -> Fraction:
    return sum((min(n, ratio * n) for n in numbers), Fraction(0))


def _from_the_page(bound: AdditiveBound, asked: Problem) -> Fraction:
    """The bound as the head of `mechdesign.methods.additive.proof` states it, term by term."""
    (grid, reach, tail), weights = grid_of(asked), weights_on_grid(asked, 3)
    p, v, s = ([Fraction(n) for n in column.tolist()] for column in (weights, bound.values, bound.slopes))
    ratio, inputs = exp_upper(asked.epsilon), range(grid.bins + 1)

    def level(y: int) -> Fraction:
        return _phi([p[x] * (y - x) ** 2 - s[x] * (y - x) - v[x] for x in inputs], ratio)

    def end(place: int, side: int) -> Fraction:
        if bound.tails is Tails.ALL:
            rise = _phi([side * (2 * p[x] * (place - x) - s[x]) for x in inputs], ratio)
            return level(place) - (min(rise, Fraction(0)) ** 2) / (4 * sum(p))
        # a geometric law h with ratio tail / (tail + 1) has mean tail and variance tail (tail + 1)
        mean = place + side * tail
        spread = tail * (tail + 1)
        return _phi([p[x] * ((mean - x) ** 2 + spread) - s[x] * (mean - x) - v[x] for x in inputs], ratio)

    first, last = -reach, grid.bins + reach
    least = min([Fraction(0), *map(level, range(first + 1, last)), end(first, -1), end(last, 1)])
    return (sum(v) + least) / (sum(p) * grid.bins**2)


@given(duals, duals, st.sampled_from(Tails), st.integers(1, 4), st.integers(0, 10**6))
@settings(deadline=None, max_examples=300)
def test_the_bound_is_the_one_of_the_page_exactly(
    values: list[float], slopes: list[float], tails: Tails, tail: int, seed: int
) -> None:
    bound = AdditiveBound(values, slopes, tails)
    asked = _asked(tail, np.random.default_rng(seed).random(3) + 0.01)
    assert bound.value(asked) == _from_the_page(bound, asked)


def test_both_ends_are_rounded_outwards() -> None:
    bound = AdditiveBound([1.1, 0.3, 1.1], [-0.7, 0.1, 0.7], Tails.ALL)
    assert 0 < Fraction(bound.bound(ASKED, MECHANISM)) < 4 * bound.value(ASKED)
    assert Fraction(bound.attained(ASKED, MECHANISM)) > average_variance(MECHANISM.exact_variance, WEIGHTS)


def test_the_average_is_that_of_variances_rounded_up() -> None:
    weights = np.array([0.3, 0.0, 0.1])
    variances = [MECHANISM.exact_variance(k) for k in range(3)]
    exact = sum(Fraction(w) * v for w, v in zip(weights.tolist(), variances, strict=True)) / sum(
        map(Fraction, weights.tolist())
    )
    found = average_variance(MECHANISM.exact_variance, weights)
    assert exact < found < exact * (1 + Fraction(1, 2**50))


def _beyond(bound: AdditiveBound, place: int, side: int) -> float:
    """The least of the parabola under G, on a fine net."""
    far = place - np.arange(3)
    rises = side * (2 * WEIGHTS * far - bound.slopes)
    rise = float(np.minimum(rises, math.exp(EPSILON) * rises).sum())
    h = np.linspace(0, 100, 100_001)
    return float((_level(bound, place) + rise * h + WEIGHTS.sum() * h**2).min())


@given(duals, duals, st.sampled_from(Tails))
@settings(deadline=None, max_examples=300)
def test_no_multipliers_prove_more_than_a_mechanism_attains(
    values: list[float], slopes: list[float], tails: Tails
) -> None:
    bound = AdditiveBound(values, slopes, tails)
    assert bound.bound(ASKED, MECHANISM) <= bound.attained(ASKED, MECHANISM)


@given(duals, duals)
@settings(deadline=None)
def test_a_proof_against_the_same_tails_says_no_less_than_one_against_all(
    values: list[float], slopes: list[float]
) -> None:
    same, every = (AdditiveBound(values, slopes, tails) for tails in (Tails.SAME, Tails.ALL))
    for tail in (1, 5):
        assert same.value(_asked(tail)) >= every.value(ASKED) - Fraction(1, 10**12)


def test_the_average_in_a_tail_is_the_sum_over_its_reports() -> None:
    """Where only the tails are below zero the bound is the level plus that sum, here by adding 4000 reports up."""
    slopes, tail = np.array([0.0, 0.0, 150.0]), 4
    asked = _asked(tail, [1.0, 1.0, 1.0])
    bound = AdditiveBound([0.0, 0.0, 0.0], slopes, Tails.SAME)
    n = np.arange(4000)
    law = (tail / (tail + 1)) ** n / (tail + 1)
    y = 5 + n
    terms = [law @ ((y - x) ** 2 / 3 - s * (y - x)) for x, s in enumerate(slopes.tolist())]
    phi = sum(min(t, math.exp(EPSILON) * t) for t in terms)

    def level(place: int) -> float:
        at = [(place - x) ** 2 / 3 - s * (place - x) for x, s in enumerate(slopes.tolist())]
        return sum(min(t, math.exp(EPSILON) * t) for t in at)

    assert phi < min(map(level, range(-2, 5)))
    assert float(bound.value(asked)) == pytest.approx(phi / 4, rel=1e-9)


def test_the_average_variance_is_that_of_the_laws() -> None:
    variances = MECHANISM.variance([-1.0, 0.0, 1.0])
    assert float(average_variance(MECHANISM.exact_variance, WEIGHTS)) == pytest.approx(
        float(WEIGHTS @ variances), rel=1e-12
    )


BOUND = AdditiveBound([0.5, 0.2, 0.5], [-0.3, 0.0, 0.3], Tails.ALL)


def test_the_bound_scales_with_the_square_of_the_domain() -> None:
    assert BOUND.bound(ASKED, MECHANISM) > 0
    wide = _asked(inputs=Interval(-3, 3))
    assert BOUND.bound(wide, MECHANISM) == pytest.approx(9 * BOUND.bound(ASKED, MECHANISM), rel=1e-14)


def test_the_scope_says_which_tails() -> None:
    free, tied = (evolved(BOUND, tails=tails).scope(ASKED, MECHANISM).words for tails in (Tails.ALL, Tails.SAME))
    assert free == "unbiased mechanisms with reports on the grid of 3 inputs"
    assert tied == f"{free} and tails of ratio 1/2 from 3 steps beyond them"


def test_a_prior_that_is_not_on_the_grid_has_no_bound() -> None:
    between = problems.additive(EPSILON, Atoms([0.3], [1.0]), bins=2, reach=3, tail=1)
    with pytest.raises(CheckFailed, match="3 equispaced inputs"):
        BOUND.bound(between, MECHANISM)


def test_other_mechanisms_are_refused() -> None:
    assert BOUND.attained(ASKED, MECHANISM) > 0
    longer = ConditionalNoise(EPSILON, Interval(-1, 1), 2, 4, 1, np.insert(BASE, [1, 8], 0.001), RATIO)
    for other in (catalogue.pm(1.0), evolved(MECHANISM, inputs=Interval(0, 1)), evolved(MECHANISM, tail=2), longer):
        for tails in Tails:
            with pytest.raises(CheckFailed):
                evolved(BOUND, tails=tails).attained(ASKED, other)


def test_evidence_is_about_as_many_inputs_as_the_problem_has() -> None:
    with pytest.raises(CheckFailed, match="2 values"):
        AdditiveBound([0.0, 0.0], [0.0, 0.0], Tails.ALL).bound(ASKED, MECHANISM)


@pytest.mark.parametrize("tails", Tails)
def test_it_is_a_value_and_survives_a_file(tails: Tails) -> None:
    bound = AdditiveBound([0.1, 0.2, 0.3], [0.0, -1.0, 1e-300], tails)
    again = Codec().decoded(AdditiveBound, encoded(bound), "evidence")
    assert again == bound
    assert hash(again) == hash(bound)


@pytest.mark.parametrize("name", ["values", "slopes"])
@pytest.mark.parametrize("numbers", [[0.0, math.nan, 0.0], [[0.0]], ["a"], None], ids=str)
def test_bad_fields_are_refused_by_name(name: str, numbers: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        evolved(BOUND, **{name: numbers})
    assert refused.value.field.startswith(name)
