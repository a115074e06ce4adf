"""Losses and their integrals."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy import integrate

from mechdesign.errors import InvalidInput
from mechdesign.words.losses import Absolute, Custom, Power, Squared, parse_loss

EXPONENTS = st.sampled_from([0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 7.5])
REAL = st.floats(-50, 50)


@given(REAL, REAL, EXPONENTS)
def test_a_power_is_the_power_of_the_distance(y, x, exponent):
    assert Power(exponent)(y, x) == pytest.approx(abs(y - x) ** exponent)


@given(REAL, REAL, EXPONENTS, st.floats(0.1, 30))
def test_a_circular_distance_is_the_shortest_over_all_turns(y, x, exponent, period):
    shortest = min(abs(y - x + k * period) for k in range(-1100, 1101))
    assert Power(1.0, period)(y, x) == pytest.approx(shortest, abs=1e-9)
    assert Power(exponent, period)(y, x) == pytest.approx(float(Power(1.0, period)(y, x)) ** exponent)


def test_a_circular_distance_off_the_axis_is_the_shorter_way_round():
    """Section 5.3 prints a formula that is right on the axis only."""
    assert Absolute(2 * math.pi)(0.5, 6.0) == pytest.approx(0.5 + 2 * math.pi - 6.0)


@settings(max_examples=100, deadline=None)
@given(st.floats(-3, 3), st.floats(0, 4), REAL, EXPONENTS, st.sampled_from([None, 0.7, 2.0, 100.0]))
def test_integrals_of_powers_agree_with_quad(start, width, x, exponent, period):
    loss, stop = Power(exponent, period), start + width
    half = 0.5 * (period or 1e9)
    kinks = [k * half for k in range(math.ceil(start / half), math.floor(stop / half) + 1)]
    cuts = sorted({start, stop, *(kink for kink in kinks if start < kink < stop)})
    expected = sum(
        integrate.quad(lambda z: float(loss(z, 0.0)), a, b, epsabs=1e-11, epsrel=1e-10, limit=200)[0]
        for a, b in zip(cuts[:-1], cuts[1:], strict=True)
    )
    assert float(loss.integral(start, stop, x)) == pytest.approx(expected, rel=1e-8, abs=1e-10)


@given(st.floats(-3, 3), st.floats(-3, 3), st.floats(-3, 3), EXPONENTS, st.sampled_from([None, 0.7, 2.0]))
def test_integrals_of_powers_add_up(a, b, c, exponent, period):
    loss = Power(exponent, period)
    whole = float(loss.integral(a, c, 0.0))
    assert float(loss.integral(a, b, 0.0)) + float(loss.integral(b, c, 0.0)) == pytest.approx(whole, abs=1e-9)


def test_narrow_windows_around_far_inputs_keep_their_digits():
    width = 1e-14
    assert float(Absolute().integral(-width, width, 1e6)) == pytest.approx(width**2, rel=1e-12, abs=0)


@pytest.mark.parametrize("exponent", [0, -1, 16.5, math.nan, math.inf, "2", True])
def test_exponents_out_of_range_are_refused(exponent):
    with pytest.raises(InvalidInput, match="exponent"):
        Power(exponent)


@pytest.mark.parametrize("period", [0, -1, math.nan, math.inf, "2", True])
def test_periods_out_of_range_are_refused(period):
    with pytest.raises(InvalidInput, match="period"):
        Power(1.0, period)


def test_names_are_those_the_command_line_reads():
    for text in ("absolute", "squared", "power:1.5"):
        assert parse_loss(text).name == text
    assert parse_loss(" Squared ", 360.0) == Squared(360.0)
    assert Squared(360.0).name == "circular squared"


@pytest.mark.parametrize(
    "text", ["", "abs", "power", "power:", "power:x", "power:nan", "power:-1", "absolute:2", "squared:"]
)
def test_texts_that_name_no_loss_are_refused(text):
    if text == "squared:":
        assert parse_loss(text) == Squared()
        return
    with pytest.raises(InvalidInput):
        parse_loss(text)


def test_on_circle_and_on_line_are_inverse():
    assert Power(1.5).on_circle(2.0) == Power(1.5, 2.0)
    assert Power(1.5, 2.0).on_line() == Power(1.5)


def test_a_custom_loss_is_vectorised_over_both_arguments():
    loss = Custom(lambda y, x: (y - x) ** 2)
    assert loss(np.arange(3)[:, None], np.arange(4)).shape == (3, 4)


def test_a_constant_loss_takes_the_shape_of_its_arguments():
    assert Custom(lambda y, x: 1)(np.arange(5.0), 0.0).tolist() == [1.0] * 5


@pytest.mark.parametrize("value", [math.nan, math.inf, -1e-9])
def test_custom_losses_must_be_finite_and_not_negative(value):
    loss = Custom(lambda y, x: np.where(y > 0.5, value, 0.0))
    assert loss(0.2, 0.0) == 0
    with pytest.raises(InvalidInput, match="finite and at least 0"):
        loss([0.2, 0.7], 0.0)


@pytest.mark.parametrize("value", ["a", True, 1j, None])
def test_custom_losses_must_return_numbers(value):
    with pytest.raises(InvalidInput, match="numbers"):
        Custom(lambda y, x: value)(0.0, 0.0)


@pytest.mark.parametrize("exponent", [0.25, 0.5, 1.0, 1.5, 2.0, 3.0])
def test_a_custom_power_has_the_integrals_of_the_power(exponent):
    custom, power = Custom(lambda y, x: np.abs(y - x) ** exponent), Power(exponent)
    for start, stop in ((-0.3, 0.7), (0.0, 1.0), (-2.0, -1.0), (0.1, 0.1)):
        assert float(custom.integral(start, stop, 0.4)) == pytest.approx(
            float(power.integral(start, stop, 0.4)), rel=1e-10
        )


def test_declared_kinks_make_integrals_of_steps_exact():
    step = Custom(lambda y, x: np.where(y > x + 1 / 3, 2.0, 0.0), kinks=lambda x: (x + 1 / 3,))
    assert float(step.integral(-1.0, 1.0, 5.0)) == pytest.approx(4 / 3, rel=1e-12, abs=0)


def test_kinks_may_come_in_any_order_and_lie_anywhere():
    loss = Custom(lambda y, x: np.abs(y - 0.2) + np.abs(y - 0.6), kinks=lambda x: (0.6, 9.0, 0.2, -3.0, 0.2))
    assert float(loss.integral(0.0, 1.0, 0.0)) == pytest.approx(0.02 + 0.32 + 0.18 + 0.08, rel=1e-12, abs=0)


def test_custom_integrals_broadcast():
    assert Absolute().integral(np.zeros((2, 1)), np.ones(3), 0.0).shape == (2, 3)
    assert Custom(lambda y, x: np.abs(y - x)).integral(np.zeros((2, 1)), np.ones(3), 0.0).shape == (2, 3)
