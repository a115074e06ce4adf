"""What is known of a distance and an angle: the sum of two worst errors, for the problem's own parts only."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest

from mechdesign import CheckFailed, Circle, Interval, InvalidInput, catalogue
from mechdesign.exact.piecewise import exact_error
from mechdesign.mechanisms.product import Product
from mechdesign.methods.polar.proof import SplitClaim
from mechdesign.words.criteria import Average
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem
from tests.methods import problems
from tests.methods.problems import numbers

UNIT, ROUND = Interval(0, 1), Circle()
CLAIM = SplitClaim(0.125)


def _asked(epsilon: float = 3.0, exponent: float = 2.0, distances: Interval = UNIT) -> Problem:
    return problems.polar(epsilon, exponent, (distances.lower, distances.upper))


def _pair(first: float = 1.0, second: float = 2.0, distances: Interval = UNIT, angles: Circle = ROUND) -> Product:
    return Product((catalogue.ogpm(first, distances), catalogue.ogpm_circle(second, angles)))


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize("distances", [UNIT, Interval(-1, 4)], ids=str)
def test_what_is_attained_is_the_sum_of_the_worst_errors(exponent: int, distances: Interval) -> None:
    """That of a distance at an end, that of an angle at any: each is rounded up."""
    pair = _pair(distances=distances)
    line, circle = pair.parts
    exact = exact_error(line, distances.lower, exponent) + exact_error(circle, 0.3, exponent)  # type: ignore[arg-type]
    assert exact_error(line, distances.upper, exponent) == exact_error(line, distances.lower, exponent)  # type: ignore[arg-type]
    found = CLAIM.attained(_asked(exponent=exponent, distances=distances), pair)
    assert exact <= Fraction(found) <= exact * (1 + Fraction(1, 2**50))


def test_a_claimed_bound_is_passed_on_and_says_so() -> None:
    assert CLAIM.bound(_asked(), None) == 0.125
    assert CLAIM.claimed
    with pytest.raises(InvalidInput, match="lower"):
        SplitClaim(math.nan)


def test_shares_of_epsilon_add_up_to_all_of_it() -> None:
    """Up to rounding: a trillionth of it."""
    for first, second, total in ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0 * (1 + 0.9e-12)), (0.1, 0.2, 0.3)):
        assert CLAIM.attained(_asked(total), _pair(first, second)) > 0
    for total in (3.0 * (1 + 1.2e-12), 3.0 * (1 - 1.2e-12), 2.0, 4.0):
        with pytest.raises(CheckFailed, match="do not add up"):
            CLAIM.attained(_asked(total), _pair())


LINE, TURN = _pair().parts


@pytest.mark.parametrize(
    ("mechanism", "words"),
    [
        (LINE, "not a pair"),
        (Product((LINE,)), "not a pair"),
        (Product((LINE, TURN, catalogue.laplace(1.0))), "not a pair"),
        (Product((LINE, TURN, TURN)), "not a pair"),
        (Product((LINE, catalogue.laplace(2.0))), "not a pair"),
        (Product((TURN, LINE)), "domains"),
        (_pair(distances=Interval(0, 2)), "domains"),
        (_pair(angles=Circle(1.0)), "domains"),
        (Product((catalogue.pm(1.0, UNIT), TURN)), "domains"),
    ],
    ids=range(9),
)
def test_other_mechanisms_are_refused(mechanism: Any, words: str) -> None:
    with pytest.raises(CheckFailed, match=words):
        CLAIM.attained(_asked(), mechanism)


def test_the_claim_is_about_polar_problems() -> None:
    other = numbers(1.0, criterion=Average(Atoms([0.5], [1.0])))
    for method in (CLAIM.bound, CLAIM.attained, CLAIM.scope):
        with pytest.raises(CheckFailed, match="about a distance and an angle"):
            method(other, _pair())


def test_the_scope_names_both_domains() -> None:
    scope = CLAIM.scope(_asked(), _pair())
    assert str(_asked().inputs) in scope.words_onto
