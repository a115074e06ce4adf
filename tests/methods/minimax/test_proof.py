"""The bound for all mechanisms, against brute force over its definition and over mechanisms."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign import Absolute, CheckFailed, Finite, Interval, Power, Squared, catalogue
from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Window
from mechdesign.methods.minimax import MinimaxBound
from mechdesign.methods.minimax.proof import MinimaxClaim
from mechdesign.words.problem import Problem
from tests.methods.problems import numbers
from tests.oracles.window_laws import least_phi, worst_error

UNIT = Interval(0, 1)


def _asked(exponent: float = 1.0, inputs: Interval | Finite = UNIT, epsilon: float = 1.0) -> Problem:
    return numbers(epsilon, Power(exponent), inputs)


ATOMS = MinimaxBound(LevelledPrior([0.0, 1.0], [0.3, 0.3], [0.5, 0.5]))
HALF = Window(1.0, UNIT, [0.25, 0.75], [0.25, 0.25], 2.5)


def test_atoms_at_places_that_are_no_inputs_bound_nothing() -> None:
    """An input that nobody has would raise the bound: it could be as hard as one likes."""
    outside = MinimaxBound(LevelledPrior([0.0, 1.5], [0.3, 0.3], [0.5, 0.5]))
    assert outside.bound(numbers(1.0, Absolute(), Interval(0, 2)), None) > 0
    with pytest.raises(CheckFailed, match="not among the inputs"):
        outside.bound(numbers(1.0), None)


@pytest.mark.parametrize(
    "problem",
    [numbers(1.0, Power(1.5)), numbers(1.0, Squared(), Finite((0, 1))), Interval(0, 1)],
    ids=str,
)
def test_evidence_for_the_absolute_and_squared_error_on_intervals_is_for_no_other_problem(problem: object) -> None:
    with pytest.raises(CheckFailed, match="about"):
        ATOMS.bound(problem, HALF)


@pytest.mark.parametrize("problem", [numbers(2.0), numbers(1.0, Absolute(), Interval(0, 2))], ids=str)
def test_what_a_mechanism_attains_counts_for_its_own_epsilon_and_inputs_only(problem: Problem) -> None:
    assert ATOMS.attained(numbers(1.0), HALF) == 7 / 16
    with pytest.raises(CheckFailed, match="window"):
        ATOMS.attained(problem, HALF)


def test_other_mechanisms_than_windows_are_refused() -> None:
    with pytest.raises(CheckFailed, match="about Window mechanisms"):
        ATOMS.attained(numbers(1.0), catalogue.pm(1.0))


sixteenths = st.integers(0, 16).map(lambda n: n / 16)


@given(
    st.lists(st.tuples(sixteenths, sixteenths, st.integers(0, 5)), min_size=1, max_size=4),
    st.sampled_from([1, 2]),
    st.floats(0.1, 3.0),
)
@settings(deadline=None)
def test_the_bound_is_the_one_of_the_page_rounded_down(
    atoms: list[tuple[float, float, int]], exponent: int, epsilon: float
) -> None:
    """``sum w r^p + min(g, g / c)`` over the sum of w, g the least of G."""
    if not any(weight for _, _, weight in atoms):
        atoms = [(x, r, 1) for x, r, _ in atoms]
    terms = [(Fraction(x), Fraction(r), Fraction(w)) for x, r, w in atoms]
    least = least_phi(epsilon, terms, exponent)
    level = sum(w * r**exponent for _, r, w in terms)
    expected = (level + min(least, least / exp_upper(epsilon))) / sum(w for _, _, w in terms)
    x, r, w = map(list, zip(*atoms, strict=True))
    found = MinimaxBound(LevelledPrior(x, r, np.array(w, dtype=float))).bound(_asked(exponent, epsilon=epsilon), None)
    assert Fraction(found) <= expected < Fraction(math.nextafter(found, math.inf))


@pytest.mark.parametrize("exponent", [1, 2])
@pytest.mark.parametrize(
    "window",
    [
        HALF,
        Window(1.0, UNIT, [0.0, 0.25, 1.0], [0.1, 0.3, 0.2], 2.6),
        Window(1.0, UNIT, [-0.5, 0.3, 0.4, 0.9, 2.0], [0.05, 0.1, 0.2, 0.15, 0.1], 2.7),
    ],
    ids=["half", "three", "five"],
)
def test_the_worst_error_is_that_of_all_turns_rounded_up(exponent: int, window: Window) -> None:
    exact = worst_error(window, exponent)
    found = ATOMS.attained(_asked(exponent), window)
    assert Fraction(math.nextafter(found, 0.0)) < exact <= Fraction(found)


def test_atoms_may_stand_at_the_ends_and_nowhere_beyond() -> None:
    for places, inputs in (([0.0, 1.0], Interval(-1, 0.5)), ([-1.5, 0.0], Interval(-1, 0.5))):
        with pytest.raises(CheckFailed, match="not among the inputs"):
            MinimaxBound(LevelledPrior(places, [0.3, 0.3], [0.5, 0.5])).bound(_asked(1, inputs), None)
    assert ATOMS.bound(_asked(), None) > 0


def test_the_bound_is_about_all_mechanisms() -> None:
    for evidence in (ATOMS, MinimaxClaim(0.1)):
        assert evidence.scope(_asked(), HALF).words == "all mechanisms"


def test_a_claim_is_for_powers_without_a_proof() -> None:
    claim, other = MinimaxClaim(0.125), _asked(1.5)
    assert claim.bound(other, HALF) == 0.125
    worst = max(float(HALF.expected_loss(x, Power(1.5))) for x in (0.0, 0.25, 0.5, 1.0))
    assert claim.attained(other, HALF) == pytest.approx(worst * (1 + 1e-9), rel=1e-13)
    for exponent in (1, 2):
        with pytest.raises(CheckFailed, match="proven and not claimed"):
            claim.bound(_asked(exponent), HALF)
    with pytest.raises(CheckFailed, match="inputs must be an interval"):
        claim.bound(_asked(1, Finite((0, 1))), HALF)
    with pytest.raises(CheckFailed, match="about Window mechanisms"):
        claim.attained(other, catalogue.pm(1.0))
    assert (MinimaxClaim.claimed, MinimaxBound.claimed) == (True, False)


def test_an_error_beyond_doubles_is_infinite() -> None:
    wide = Interval(0, 1e40)
    assert MinimaxClaim(0.0).attained(_asked(9.5, wide), Window(1.0, wide, [0.0], [1.0], 2.0)) == math.inf
