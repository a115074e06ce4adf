"""The lower bound for all piecewise mechanisms, against brute force."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate

from mechdesign import (
    CheckFailed,
    Circle,
    Custom,
    Interval,
    InvalidInput,
    Power,
    catalogue,
    solve,
)
from mechdesign.exact.piecewise import exact_error
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.methods.piecewise import BathtubBound, PiecewiseClaim
from mechdesign.methods.piecewise.proof import of_problem, sampled_inputs
from mechdesign.values.declare import evolved
from mechdesign.words.problem import Problem
from tests.methods import problems

UNIT = Interval(0, 1)


def _random_law(rng: np.random.Generator, cells: int, ratio: float, base: float) -> np.ndarray:
    """Any density on [0, 1] between ``base`` and ``ratio * base`` with mass one, constant on equal cells."""
    heights = base * (1 + (ratio - 1) * rng.random(cells))
    low, high = 0.0, 1.0
    for _ in range(200):  # move all heights towards an end of the band until the mass is one
        mix = (low + high) / 2
        towards = base if heights.mean() > 1 else ratio * base
        mixed = (1 - mix) * heights + mix * towards
        if (mixed.mean() > 1) == (heights.mean() > 1):
            low = mix
        else:
            high = mix
    return (1 - low) * heights + low * towards


@given(st.integers(0, 10**6), st.floats(0.05, 6.0), st.sampled_from([1, 2, 3]), st.floats(0.0, 1.0), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_no_law_in_the_band_beats_the_bound(seed: int, epsilon: float, exponent: int, x: float, share: float) -> None:
    rng = np.random.default_rng(seed)
    ratio = math.exp(epsilon)
    base = 1 / ratio + share * (1 - 1 / ratio)
    law = _random_law(rng, 40, ratio, base)
    edges = np.linspace(0, 1, 41)
    error = float(np.sum(law * Power(exponent).integral(edges[:-1] - x, edges[1:] - x, x)))
    radius = float(rng.random())
    bound = BathtubBound(radius).value(problems.piecewise(epsilon, Power(exponent), at=x))
    assert float(bound) <= error + 1e-9


def test_the_bound_equals_a_quadrature_of_its_definition() -> None:
    epsilon, exponent, x, radius = 1.3, 2, 0.3, 0.4
    level, ratio = radius**exponent, math.exp(epsilon)
    gain = integrate.quad(
        lambda y: min(abs(y - x) ** exponent - level, ratio * (abs(y - x) ** exponent - level)),
        -1,
        2,
        points=[x - radius, x, x + radius],
    )[0]
    bound = BathtubBound(radius).value(problems.piecewise(epsilon, Power(exponent), Interval(-1, 2), at=x))
    expected = level + (gain / 3 if gain < 0 else gain / 3 / ratio)
    assert float(bound) == pytest.approx(expected, rel=1e-10)


def test_a_smaller_or_larger_radius_proves_less() -> None:
    problem = problems.piecewise(1.0)
    best = BathtubBound(0.3775406687).value(problem)
    for radius in (0.3, 0.37, 0.385, 0.5):
        assert BathtubBound(radius).value(problem) < best


@pytest.mark.parametrize("radius", [-0.5, math.nan, math.inf])
def test_a_radius_that_is_no_distance_is_rejected(radius: float) -> None:
    with pytest.raises(InvalidInput, match="radius"):
        BathtubBound(radius)


def test_the_bound_is_not_for_one_piece_nor_for_powers_that_are_no_whole_numbers() -> None:
    for problem in (problems.piecewise(1.0, pieces=1), problems.piecewise(1.0, Power(1.5))):
        with pytest.raises(CheckFailed):
            BathtubBound(0.3).bound(problem, catalogue.ogpm(1.0))


@pytest.mark.parametrize(
    ("mechanism", "word"),
    [
        (catalogue.pm(1.0, Interval(0, 1)), "outputs"),
        (Piecewise(1.0, Interval(0, 1), Interval(0, 1), 0.5, 1.25, AffineWindow(0.5)), "windows centred at the input"),
        (catalogue.ogpm(2.0), "eps"),
        (catalogue.ogpm(1.0, Interval(0, 2)), "takes"),
        (catalogue.laplace(1.0), "Piecewise mechanisms"),
    ],
)
def test_a_mechanism_that_is_not_of_the_problem_is_refused(mechanism: Any, word: str) -> None:
    with pytest.raises(CheckFailed, match=word):
        BathtubBound(0.3).attained(problems.piecewise(1.0), mechanism)


@given(st.floats(0.1, 8.0), st.integers(1, 4), st.floats(0.0, 1.0))
@settings(deadline=None)
def test_exact_error_agrees_with_the_float_integrals(epsilon: float, exponent: int, x: float) -> None:
    mechanism = catalogue.ogpm_squared(epsilon)
    expected = float(mechanism.expected_loss(x, Power(exponent)))
    assert float(exact_error(mechanism, x, exponent)) == pytest.approx(expected, rel=1e-9, abs=1e-15)


def test_exact_error_of_a_moved_window_agrees_with_the_float_integrals() -> None:
    mechanism = catalogue.pm(1.5, Interval(2, 7))
    for x in (2.0, 3.3, 7.0):
        assert float(exact_error(mechanism, x, 2)) == pytest.approx(float(mechanism.expected_loss(x, Power(2.0))))


def test_exact_error_is_a_rational_of_the_stored_heights() -> None:
    mechanism = Piecewise(1.0, Interval(0, 1), Interval(0, 1), 0.5, 1.25)
    width = Fraction(2, 3)  # (1 - 1/2) / (5/4 - 1/2)
    by_hand = Fraction(1, 2) * Fraction(1, 2) + Fraction(3, 4) * width**2 / 2
    assert exact_error(mechanism, 0.0, 1) == by_hand


def test_narrower_outputs_do_better_so_the_class_names_its_outputs() -> None:
    """The bound is about the problem's outputs: without them the words of the certificate would be false."""
    certificate = solve(problems.piecewise(0.1, Power(2.0))).certificate
    narrow = Piecewise(0.1, Interval(0, 1), Interval(0.4, 0.6), low=4.9, high=5.3)
    assert narrow.worst_case(Power(2.0))[0] < certificate.lower
    assert certificate.scope.words_onto == "piecewise mechanisms onto [0, 1]"


CUSTOM = Custom(lambda y, x: np.abs(y - x))


def test_a_claim_for_a_loss_that_is_a_function_is_about_the_outputs_of_the_problem() -> None:
    wide = solve(problems.piecewise(1.0, CUSTOM, outputs=Interval(-1, 2)))
    with pytest.raises(CheckFailed, match=r"outputs are \[-1, 2\]"):
        evolved(wide, problem=problems.piecewise(1.0, CUSTOM), evidence=PiecewiseClaim(0.0))


def test_a_claim_for_a_loss_that_is_a_function_is_about_the_pieces_of_the_problem() -> None:
    free = solve(problems.piecewise(1.0, CUSTOM))
    with pytest.raises(CheckFailed, match=r"2 pieces at 0\.0, more than 1"):
        evolved(free, problem=problems.piecewise(1.0, CUSTOM, pieces=1), evidence=PiecewiseClaim(0.0))


def test_one_height_that_misses_mass_one_by_rounding_is_the_uniform_law() -> None:
    """Else an error could be said to be below what the uniform law has, by as much as the constructor lets pass."""
    flat = Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=1 - 9e-13, high=1 - 9e-13)
    assert exact_error(flat, 0.0, 1) == Fraction(1, 2)
    assert exact_error(flat, 0.0, 2) == Fraction(1, 3)


# -- term by term, as the page says ------------------------------------------------------------------------------------


def _asked(
    exponent: float | Custom = 1.0,
    inputs: Interval | Circle = UNIT,
    outputs: Interval | None = None,
    at: float | None = None,
    pieces: int | None = None,
    epsilon: float = 1.0,
) -> Problem:
    period = inputs.period if isinstance(inputs, Circle) else None
    loss = exponent if isinstance(exponent, Custom) else Power(float(exponent), period)
    return problems.piecewise(epsilon, loss, inputs, outputs, at, pieces)


def _excess(reach: Fraction, radius: Fraction, exponent: int, ratio: Fraction) -> Fraction:
    """The integral of ``phi(t^p - r^p)`` over distances up to ``reach``."""

    def plain(start: Fraction, stop: Fraction) -> Fraction:
        return (stop ** (exponent + 1) - start ** (exponent + 1)) / (exponent + 1) - radius**exponent * (stop - start)

    near = min(radius, reach)
    return ratio * plain(Fraction(0), near) + plain(near, reach)


eighths = st.integers(0, 24).map(lambda n: n / 8)


@given(eighths, eighths, eighths, st.integers(0, 40), st.integers(1, 4), st.floats(0.1, 5.0))
@settings(deadline=None, max_examples=200)
def test_the_bound_is_the_one_of_the_page_exactly(
    left: float, right: float, at: float, radius: int, exponent: int, epsilon: float
) -> None:
    inputs, outputs = Interval(0, 3), Interval(-left - 0.25, 3 + right)
    problem = _asked(exponent, inputs, outputs, at, epsilon=epsilon)
    ratio, r, x = exp_upper(epsilon), Fraction(radius, 8), Fraction(at)
    ends = Fraction(outputs.lower), Fraction(outputs.upper)
    gain = _excess(x - ends[0], r, exponent, ratio) + _excess(ends[1] - x, r, exponent, ratio)
    length = ends[1] - ends[0]
    expected = r**exponent + min(gain / length, gain / (ratio * length))
    bound = BathtubBound(radius / 8)
    assert bound.value(problem) == expected
    found = bound.bound(problem, None)
    assert Fraction(found) <= expected < Fraction(math.nextafter(found, math.inf))


@pytest.mark.parametrize(
    ("inputs", "outputs", "hardest"), [(UNIT, Interval(-1, 1.5), 1.0), (UNIT, Interval(-0.5, 2), 0.0)]
)
def test_of_all_inputs_the_farthest_from_the_middle_of_the_outputs_is_the_hardest(
    inputs: Interval, outputs: Interval, hardest: float
) -> None:
    free, asked = _asked(2, inputs, outputs), _asked(2, inputs, outputs, hardest)
    assert BathtubBound(0.5).value(free) == BathtubBound(0.5).value(asked)
    law = Piecewise(1.0, inputs, outputs, 0.25, 0.6)
    assert BathtubBound(0.5).attained(free, law) == BathtubBound(0.5).attained(asked, law)


@pytest.mark.parametrize("exponent", [1, 2, 3])
def test_round_a_circle_distances_reach_half_of_it(exponent: int) -> None:
    problem, ratio = _asked(exponent, Circle(2.0)), exp_upper(1.0)
    gain = 2 * _excess(Fraction(1), Fraction(1, 4), exponent, ratio)
    expected = Fraction(1, 4) ** exponent + min(gain / 2, gain / (2 * ratio))
    assert BathtubBound(0.25).value(problem) == expected


@pytest.mark.parametrize("exponent", [1, 2])
def test_what_is_attained_is_the_error_at_the_input_rounded_up(exponent: int) -> None:
    """At 1/4 the window of width 2/3 is pushed back to the left end."""
    law, x = Piecewise(1.0, UNIT, UNIT, low=0.5, high=1.25), Fraction(1, 4)

    def part(start: Fraction, stop: Fraction) -> Fraction:
        power = exponent + 1
        return ((x - start) ** power + (stop - x) ** power) / power

    exact = Fraction(1, 2) * part(Fraction(0), Fraction(1)) + Fraction(3, 4) * part(Fraction(0), Fraction(2, 3))
    for evidence, pieces in ((BathtubBound(0.3), None), (PiecewiseClaim(0.1), 3)):
        found = evidence.attained(_asked(exponent, at=0.25, pieces=pieces), law)
        assert Fraction(math.nextafter(found, 0.0)) <= exact <= Fraction(found)


def test_other_powers_are_claimed_and_raised_a_little() -> None:
    law, problem = Piecewise(1.0, UNIT, UNIT, low=0.5, high=1.25), _asked(1.5)
    expected = float(law.expected_loss(0.0, Power(1.5)))
    assert expected < PiecewiseClaim(0.1).attained(problem, law) <= expected * (1 + 1e-11)
    assert PiecewiseClaim(0.1).bound(problem, law) == 0.1
    with pytest.raises(CheckFailed, match="whole powers"):
        BathtubBound(0.3).attained(problem, law)


def test_what_can_be_proven_is_not_claimed() -> None:
    for problem in (_asked(1), _asked(2), _asked(3)):
        with pytest.raises(CheckFailed, match="proven and not claimed"):
            PiecewiseClaim(0.1).bound(problem, None)
    for problem in (_asked(1, pieces=1), _asked(1, pieces=3), _asked(CUSTOM)):
        assert PiecewiseClaim(0.1).bound(problem, None) == 0.1
    assert (PiecewiseClaim.claimed, BathtubBound.claimed) == (True, False)
    assert BathtubBound(0.3).bound(_asked(1, pieces=3), None) > 0


def test_a_loss_that_is_a_function_is_looked_at_on_a_grid_or_where_it_was_asked() -> None:
    law, second = Piecewise(1.0, UNIT, UNIT, low=0.5, high=1.25), 1 / 256
    spike = Custom(lambda y, x: np.where(np.asarray(x) == second, 1.0, 0.5) + 0 * np.asarray(y))
    assert PiecewiseClaim(0.0).attained(_asked(spike), law) == pytest.approx(1.0)
    assert PiecewiseClaim(0.0).attained(_asked(spike, at=0.5), law) == pytest.approx(0.5)
    assert sampled_inputs(_asked(CUSTOM), 5).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert sampled_inputs(_asked(CUSTOM, at=0.3), 5).tolist() == [0.3]


@pytest.mark.parametrize(
    ("problem", "words"),
    [
        (_asked(1), "piecewise mechanisms onto [0, 1]"),
        (_asked(1, pieces=3), "piecewise mechanisms onto [0, 1]"),
        (_asked(1, pieces=1), "one-piece mechanisms onto [0, 1]"),
        (_asked(1, Circle()), "all mechanisms"),
        (_asked(1, Circle(), pieces=3), "all mechanisms"),
        (_asked(1, Circle(), pieces=1), "one-piece mechanisms onto circle [0, 6.28319)"),
        (_asked(CUSTOM, Circle()), "piecewise mechanisms onto circle [0, 6.28319)"),
    ],
    ids=range(7),
)
def test_the_scope_says_whom_a_bound_is_about(problem: Problem, words: str) -> None:
    for evidence in (BathtubBound(0.3), PiecewiseClaim(0.1)):
        assert evidence.scope(problem, None).words_onto == words


def test_a_mechanism_may_have_just_as_many_pieces_as_the_problem_allows() -> None:
    law = Piecewise(1.0, UNIT, UNIT, low=0.5, high=1.25)
    assert of_problem(law, _asked(1, at=0.5, pieces=3)) == law
    assert of_problem(law, _asked(1, pieces=2)) == law
    with pytest.raises(CheckFailed, match="2 pieces at"):
        of_problem(law, _asked(1, pieces=1))


def test_a_radius_of_nothing_is_one() -> None:
    assert BathtubBound(0.0).value(_asked(1)) == Fraction(1, 2) / exp_upper(1.0)
