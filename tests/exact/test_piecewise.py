"""Exact errors of piecewise mechanisms, against sums over the pieces of their densities."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.piecewise import error_up, exact_bias, exact_error, hardest_input
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise, SublevelWindow
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Power, Squared

UNIT = Interval(0, 1)


def wide(outputs: Interval, window: AffineWindow) -> Piecewise:
    """Height 1/2 everywhere and 2 in a window, scaled to the length of the outputs: the window is a third of them."""
    length = outputs.upper - outputs.lower
    return Piecewise(math.log(4), UNIT, outputs, 0.5 / length, 2 / length, window)


def by_pieces(mechanism: Piecewise, x: float, exponent: int) -> tuple[float, float]:
    """Mean error and bias at x: integrals of ``|y - x|^p`` and y over the pieces of the density."""
    pieces = mechanism.pieces(x)
    error = bias = 0.0
    for low, high, density in zip(pieces.edges[:-1], pieces.edges[1:], pieces.densities, strict=True):
        for start, stop in ((min(low, x), min(high, x)), (max(low, x), max(high, x))):
            ends = [abs(end - x) ** (exponent + 1) / (exponent + 1) for end in (start, stop)]
            error += density * abs(ends[1] - ends[0])
        bias += density * (high**2 - low**2) / 2
    return error, bias - x


MECHANISMS = [
    wide(UNIT, AffineWindow()),
    wide(Interval(-2, 5), AffineWindow()),
    wide(Interval(-1, 2), AffineWindow(pivot=0.5, slope=2.0)),
    wide(Interval(-1, 2), AffineWindow(pivot=0.25, slope=0.5, offset=0.75)),
    catalogue.pm(1.0, UNIT),
    catalogue.sw(2.0),
]


@pytest.mark.parametrize("mechanism", MECHANISMS, ids=lambda mechanism: mechanism.name)
@pytest.mark.parametrize("x", [0.0, 0.1, 0.5, 0.8, 1.0])
def test_errors_and_biases_are_sums_over_pieces(mechanism: Piecewise, x: float) -> None:
    for exponent in (1, 2, 3):
        error, bias = by_pieces(mechanism, x, exponent)
        assert float(exact_error(mechanism, x, exponent)) == pytest.approx(error, rel=1e-9)
        assert float(exact_bias(mechanism, x)) == pytest.approx(bias, abs=1e-9)


@pytest.mark.parametrize("end", [0.0, 1.0])
def test_a_window_at_an_end_is_pushed_inside(end: float) -> None:
    """Height 2 on the third next to the end, 1/2 on the rest: the mean distance is 2 / 18 + (1 - 1/9) / 4 = 1/3."""
    assert exact_error(wide(UNIT, AffineWindow()), end, 1) == pytest.approx(1 / 3, rel=1e-12)


def test_round_a_circle_all_inputs_have_the_error_of_the_middle() -> None:
    mechanism = catalogue.ogpm_circle(1.0, Circle(2.0))
    width = float(mechanism.exact_width())
    exact = 2 * (mechanism.low * (1 - width**2 / 4) / 2 + mechanism.high * width**2 / 8)
    for x in (0.0, 0.3, 1.9):
        assert float(exact_error(mechanism, x, 1)) == pytest.approx(exact, rel=1e-12)


def test_the_hardest_input_is_the_farthest_from_the_middle_of_the_outputs() -> None:
    assert hardest_input(UNIT, Interval(0, 3)) == 0.0
    assert hardest_input(UNIT, Interval(-3, 1)) == 1.0
    assert hardest_input(UNIT, UNIT) == 0.0
    assert hardest_input(Circle(6.0), Circle(6.0)) == 3.0


def test_errors_are_rounded_up() -> None:
    mechanism = wide(UNIT, AffineWindow())
    for x in (0.0, 0.3, 1.0):
        exact = exact_error(mechanism, x, 2)
        above = Fraction(error_up(mechanism, x, Squared()))
        assert exact <= above <= exact * (1 + Fraction(1, 2**51))
        assert error_up(mechanism, x, Power(1.5)) > mechanism.expected_loss(x, Power(1.5))


def test_windows_of_another_kind_are_refused() -> None:
    with pytest.raises(CheckFailed, match="centred at the input"):
        error_up(wide(UNIT, AffineWindow(pivot=0.5, slope=2.0)), 0.5, Squared())
    with pytest.raises(InvalidInput, match="affine windows"):
        exact_error(Piecewise(1.0, UNIT, UNIT, 0.5, 1.25, SublevelWindow(Squared())), 0.5, 2)
