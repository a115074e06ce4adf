"""The bound for all unbiased mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

import mechdesign as md
from mechdesign import Interval, InvalidInput, catalogue
from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.unbiased import UnbiasedPriorBound
from mechdesign.methods.unbiased.proof import variance_under
from mechdesign.values.codec import Codec, encoded
from mechdesign.words.priors import Atoms
from tests.methods import problems

ENDS = np.array([0.5, 0.0, 0.5])
UNBIASED = [entry for entry in catalogue.ON_INTERVALS if entry.unbiased]


class Case(NamedTuple):
    """Multipliers, and what they are about: an epsilon, and a weight for each input."""

    epsilon: float
    weights: np.ndarray
    bound: UnbiasedPriorBound

    @property
    def value(self) -> Fraction:
        return self.bound.value(self.epsilon, self.weights)


def _problem(weights: object, epsilon: float = 1.0, inputs: Interval = catalogue.SYMMETRIC) -> md.Problem:
    """The problem with these weights on equispaced inputs, divided by their sum."""
    shares = np.array(weights, dtype=float)
    prior = Atoms(np.linspace(inputs.lower, inputs.upper, shares.size), shares / shares.sum())
    return problems.unbiased_under(epsilon, prior, inputs)


def _terms(case: Case, y: np.ndarray) -> np.ndarray:
    _, weights, bound = case
    far = y[:, None] - np.linspace(-1, 1, weights.size)
    return np.asarray((far - bound.offsets) * (weights * far + bound.slopes))


def _brute(case: Case) -> float:
    """The definition, least on a fine grid and then in the cell of that least value."""
    epsilon, weights, bound = case
    grid = np.linspace(-60, 60, 24_001)
    for _ in range(4):
        terms = _terms(case, grid)
        values = np.minimum(terms, math.exp(epsilon) * terms).sum(axis=1)
        k = int(np.argmin(values))
        grid = np.linspace(grid[max(k - 1, 0)], grid[min(k + 1, grid.size - 1)], 2001)
    return float((bound.offsets @ bound.slopes + min(0.0, values.min())) / weights.sum())


def _level(case: Case, y: Fraction) -> Fraction:
    """``sum_x phi(t_x(y))`` exactly, on [-1, 1]."""
    epsilon, weights, bound = case
    ratio, count = exp_upper(epsilon), weights.size
    columns = zip(weights.tolist(), bound.offsets.tolist(), bound.slopes.tolist(), strict=True)
    total = Fraction(0)
    for k, (weight, offset, slope) in enumerate(columns):
        far = y - (Fraction(2 * k, count - 1) - 1)
        term = (far - Fraction(offset)) * (Fraction(weight) * far + Fraction(slope))
        total += min(term, ratio * term)
    return total


def _turns(case: Case) -> list[float]:
    """Where the level can be least: the roots of all terms, and between two of them the vertex of a parabola."""
    epsilon, weights, bound = case
    inputs, p, ratio = np.linspace(-1, 1, weights.size), weights, math.exp(epsilon)
    others = inputs[p > 0] - bound.slopes[p > 0] / p[p > 0]
    roots = np.sort([*(inputs + bound.offsets), *others])
    ends = np.array([roots[0] - 1, *roots, roots[-1] + 1])
    places = roots.tolist()
    for low, high in zip(ends[:-1], ends[1:], strict=True):
        factors = np.where(_terms(case, np.array([(low + high) / 2]))[0] < 0, ratio, 1.0)
        places.append(float(factors @ (p * (2 * inputs + bound.offsets) - bound.slopes) / (2 * factors @ p)))
    return places


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Windows around the inputs, and lines for inputs without weight."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    count = draw(st.integers(3, 9))
    weights = rng.random(count) * (rng.random(count) < 0.7)
    assume(weights.max() > 0.1)
    weights /= weights.sum()
    left, right = -3 * rng.random(count), 3 * rng.random(count)
    lines = (rng.random(count) - 0.5) * weights.mean()
    return Case(
        draw(st.floats(0.05, 5.0)), weights, UnbiasedPriorBound(right, np.where(weights > 0, -weights * left, lines))
    )


@given(cases())
@settings(deadline=None, max_examples=100)
def test_the_value_is_the_definition_s(case: Case) -> None:
    value, brute = float(case.value), _brute(case)
    scale = 1 + abs(brute)
    assert value <= brute + 1e-9 * scale
    # several pieces may be least within a hair of each other, and brute force follows one of them only
    assert value >= brute - 2e-3 * scale * math.exp(case.epsilon)


@given(cases())
@settings(deadline=None, max_examples=60)
def test_no_published_unbiased_mechanism_beats_the_bound(case: Case) -> None:
    epsilon, weights, _ = case
    inputs = np.linspace(-1, 1, weights.size)
    for entry in UNBIASED:
        mechanism = catalogue.build(entry.key, epsilon, Interval(-1, 1))
        average = float(weights @ mechanism.variance(inputs) / weights.sum())
        assert average >= float(case.value) * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0, 10.0])
def test_both_ends_prove_duchi_s_variance(epsilon: float) -> None:
    """With half the prior at each end and R = coth(eps/2), G touches 0 at R and -R for windows between the roots of
    ``z^2 - 2 R^2 z + R^2``, and the bound is ``R^2 - 1``."""
    reach = 1 / math.tanh(epsilon / 2)
    far = reach**2 + reach * math.sqrt(reach**2 - 1)
    near = reach**2 / far
    bound = UnbiasedPriorBound([1 - near, 0.0, near - 1], [(far - 1) / 2, 0.0, (1 - far) / 2])
    assert float(bound.value(epsilon, ENDS)) == pytest.approx(reach**2 - 1, rel=1e-9)


def test_the_bound_scales_with_the_square_of_the_interval() -> None:
    mechanism = catalogue.duchi(1.0)
    bound = UnbiasedPriorBound([1.0, 0.0, -1.0], [1.5, 0.0, -1.5])
    near, wide = (_problem([1, 0, 1], inputs=Interval(*ends)) for ends in ((-1, 1), (1e9, 1e9 + 6)))
    assert bound.bound(wide, mechanism) == pytest.approx(9 * bound.bound(near, mechanism), rel=1e-15)
    assert Fraction(bound.bound(near, mechanism)) <= bound.value(1.0, ENDS)


def test_hopeless_quadratics_prove_zero_and_not_less() -> None:
    bound, problem = UnbiasedPriorBound([9.0, 0.0, -9.0], [9.0, 0.0, -9.0]), _problem([1, 0, 1])
    assert bound.value(1.0, ENDS) < 0
    assert bound.bound(problem, catalogue.duchi(1.0)) == 0.0


def _mechanism(inputs: Interval = catalogue.SYMMETRIC, epsilon: float = 2.0) -> UnbiasedWindow:
    return UnbiasedWindow(epsilon, inputs, [-2.0, 0.1, 2.2], [0.12, 0.1, 0.12], math.exp(2) * (1 - 1e-15))


def test_the_average_variance_is_that_of_the_rows() -> None:
    mechanism, weights = _mechanism(), np.array([0.1, 0.2, 0.4, 0.3])
    inputs = [Fraction(k, 3) * 2 - 1 for k in range(4)]
    exact = sum(Fraction(p) * mechanism.exact_variance(x) for p, x in zip(weights.tolist(), inputs, strict=True))
    exact /= sum(map(Fraction, weights.tolist()))
    assert exact <= variance_under(mechanism, weights) <= exact * (1 + Fraction(1, 10**15))


BOUND = UnbiasedPriorBound([1.0, 0.0, -1.0], [0.5, 0.0, -0.5])


def test_evidence_is_about_unbiased_windows_on_the_problem_s_inputs() -> None:
    problem = _problem([1, 0, 1], 2.0)
    assert BOUND.attained(problem, _mechanism()) > BOUND.bound(problem, _mechanism())
    for other in (catalogue.pm(2.0), _mechanism(Interval(-0.9, 1)), _mechanism(epsilon=2.5)):
        with pytest.raises(CheckFailed):
            BOUND.attained(problem, other)


def test_evidence_is_about_as_many_inputs_as_the_problem_has() -> None:
    with pytest.raises(CheckFailed, match="3 equispaced inputs"):
        BOUND.bound(_problem([1, 1, 0, 1], 2.0), _mechanism())


def test_a_json_round_trip_keeps_the_evidence() -> None:
    bound = UnbiasedPriorBound([0.1, 0.0, -1 / 7], [1e-22, 0.0, -0.5])
    again = Codec().decoded(UnbiasedPriorBound, encoded(bound), "evidence")
    assert again == bound
    assert hash(again) == hash(bound)


@pytest.mark.parametrize(
    "numbers", [[math.nan, 0.0, 1.0], [1.0, 2.0, math.inf], [[1.0, 2.0, 3.0]], ["a", 1.0, 2.0], 1.0], ids=str
)
@pytest.mark.parametrize("name", ["offsets", "slopes"])
def test_malformed_evidence_is_rejected(name: str, numbers: object) -> None:
    with pytest.raises(InvalidInput) as refused:
        UnbiasedPriorBound(**({"offsets": [1.0, 0.0, -1.0], "slopes": [1.0, 0.0, -1.0]} | {name: numbers}))
    assert refused.value.field.startswith(name)


@given(cases())
@settings(deadline=None, max_examples=100)
def test_the_bound_is_the_least_level_exactly_where_that_is_found(case: Case) -> None:
    """The exact level at any place is never below what the bound says of the least, and where it turns no more."""
    _, weights, bound = case
    offset = sum(Fraction(b) * Fraction(s) for b, s in zip(bound.offsets.tolist(), bound.slopes.tolist(), strict=True))
    least = case.value * sum(map(Fraction, weights.tolist())) - offset
    levels = [_level(case, Fraction(place)) for place in _turns(case)]
    assert min(levels) >= least
    assert float(min(*levels, Fraction(0))) == pytest.approx(float(least), rel=1e-9, abs=1e-9)
