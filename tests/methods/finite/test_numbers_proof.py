"""The bound on finitely many numbers, term by term; losses are rounded towards the side they are used on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import CheckFailed, Finite, Interval, Power, catalogue
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms import Discrete
from mechdesign.methods.finite import FiniteBound
from mechdesign.methods.finite.supports import distances
from mechdesign.words.criteria import Average
from mechdesign.words.priors import Atoms
from tests.methods.problems import numbers

UNEVEN = (-0.3, 0.1, 0.7, 1.1)


def _asked(points: Sequence[float], exponent: int, weights: Sequence[float] | None = None) -> Any:
    inputs, loss = Finite(tuple(points)), Power(float(exponent))
    if weights is None:
        return numbers(1.0, loss, inputs)
    return numbers(1.0, loss, inputs, Average(Atoms(list(points), list(weights))))


def _losses(points: Sequence[float], exponent: int, rounded: Any) -> list[list[Fraction]]:
    exact = list(map(Fraction, points))
    return [[Fraction(rounded(abs(x - y) ** exponent)) for y in exact] for x in exact]


small = st.lists(st.floats(0, 2), min_size=4, max_size=4)


@given(small, small, st.sampled_from([1, 2]), st.booleans())
@settings(deadline=None, max_examples=150)
def test_the_bound_is_the_one_of_the_page_rounded_down(
    levels: list[float], weights: list[float], exponent: int, is_average: bool
) -> None:
    """``sum w v + g`` over the sum of w, g the least sum of ``w phi(loss - v)``, over c if it is above 0."""
    weights = [w + 0.125 for w in weights]
    total = sum(weights)
    problem = _asked(UNEVEN, exponent, [w / total for w in weights] if is_average else None)
    shares = list(map(Fraction, problem.weights.tolist() if is_average else weights))
    ratio, v = exp_upper(1.0), list(map(Fraction, levels))
    losses = _losses(UNEVEN, exponent, float_down)
    gaps = [[losses[x][y] - v[x] for x in range(4)] for y in range(4)]
    least = min(sum(w * min(t, ratio * t) for w, t in zip(shares, gap, strict=True)) for gap in gaps)
    below = sum(w * n for w, n in zip(shares, v, strict=True)) + min(least, least / ratio)
    expected = max(below / sum(shares), Fraction(0))
    law = catalogue.randomised_response(1.0, Finite(UNEVEN))
    found = FiniteBound(levels, [0.0] * 4 if is_average else weights).bound(problem, law)
    assert Fraction(found) <= expected < Fraction(math.nextafter(found, math.inf))


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("weights", [None, [0.5, 0.25, 0.125, 0.125]])
def test_what_is_attained_is_the_error_of_the_law_rounded_up(exponent: int, weights: list[float] | None) -> None:
    """One of the points is no output."""
    outputs = (-0.3, 0.1, 1.1)
    rows = np.array([[0.2, 0.5, 0.3], [0.3, 0.3, 0.4], [0.4, 0.3, 0.3], [0.5, 0.2, 0.3]])
    law = Discrete(1.0, Finite(UNEVEN), Finite(outputs), rows)
    losses = _losses(UNEVEN, exponent, float_up)
    errors = []
    for loss, row in zip(losses, law.probabilities.tolist(), strict=True):
        chances = list(map(Fraction, row))
        errors.append(
            sum(c * loss[UNEVEN.index(y)] for c, y in zip(chances, law.outputs.points, strict=True)) / sum(chances)
        )
    shares = None if weights is None else list(map(Fraction, weights))
    exact = max(errors) if shares is None else sum(w * e for w, e in zip(shares, errors, strict=True))
    found = FiniteBound([0.0] * 4, [1.0] * 4).attained(_asked(UNEVEN, exponent, weights), law)
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)


@pytest.mark.parametrize("exponent", [1, 2])
def test_losses_lie_around_the_exact_ones(exponent: int) -> None:
    down, up = (distances(UNEVEN, exponent, rounded) for rounded in (float_down, float_up))
    exact = np.array(_losses(UNEVEN, exponent, lambda n: n), dtype=object)
    assert (down < up).any()
    for i, j in np.ndindex(4, 4):
        assert Fraction(down[i, j]) <= exact[i, j] <= Fraction(up[i, j])
        assert up[i, j] <= math.nextafter(down[i, j], math.inf)


@pytest.mark.parametrize(
    "law",
    [
        catalogue.randomised_response(2.0, Finite(UNEVEN)),
        catalogue.randomised_response(1.0, Finite((*UNEVEN, 2.0))),
        Discrete(1.0, Finite(UNEVEN), Finite((0.1, 0.2)), np.full((4, 2), 0.5)),
        catalogue.laplace(1.0),
    ],
    ids=["epsilon", "inputs", "outputs", "kind"],
)
def test_mechanisms_for_another_problem_are_refused(law: Any) -> None:
    with pytest.raises(CheckFailed, match=r"has eps|takes|no columns|about Discrete"):
        FiniteBound([0.1] * 4, [1.0] * 4).attained(_asked(UNEVEN, 1), law)


@pytest.mark.parametrize("problem", [numbers(1.0, Power(1.0), Interval(0, 1)), Finite(UNEVEN), None], ids=str)
def test_evidence_is_about_finitely_many_numbers(problem: Any) -> None:
    law, bound = catalogue.randomised_response(1.0, Finite(UNEVEN)), FiniteBound([0.1] * 4, [1.0] * 4)
    for method in (bound.bound, bound.attained, bound.scope):
        with pytest.raises(CheckFailed, match="finitely many"):
            method(problem, law)


def test_only_the_absolute_error_is_proven_for_all_outputs() -> None:
    """An output between two points can be drawn as one of them for p = 1; for p = 2 it may be better."""
    bound, law = FiniteBound([0.1] * 4, [1.0] * 4), catalogue.randomised_response(1.0, Finite(UNEVEN))
    words = [bound.scope(_asked(UNEVEN, exponent), law).words for exponent in (1, 2)]
    assert words[0] == "all mechanisms"
    assert words[1] != words[0]
    assert "outputs" in words[1]
    assert not FiniteBound.claimed
