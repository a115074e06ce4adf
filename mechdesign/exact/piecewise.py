"""Exact expectations under piecewise mechanisms: their heights and windows are rational functions of their doubles."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_up
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.words.domains import Circle, Interval
from mechdesign.words.losses import Power

_ROUNDING = 1e-12


def hardest_input(inputs: Interval | Circle, outputs: Interval | Circle) -> float:
    """The input farthest from the middle of the outputs; on a circle, where all are alike, the middle.

    For a window centred at the input, pushed back inside, errors in a power of the distance grow with that distance.
    """
    if isinstance(inputs, Circle):
        return inputs.middle
    ends = Fraction(outputs.lower) + Fraction(outputs.upper)
    return max(inputs.lower, inputs.upper, key=lambda x: abs(2 * Fraction(x) - ends))


def error_up(mechanism: Piecewise, x: float, loss: Power) -> float:
    """At least ``E[loss(Y, x)]`` for windows centred at the input: rational for whole powers, doubles for others."""
    if mechanism.window != AffineWindow():
        raise CheckFailed("the evidence is about windows centred at the input")
    if loss.exponent == int(loss.exponent):
        return float_up(exact_error(mechanism, x, int(loss.exponent)))
    return float(mechanism.expected_loss(x, loss)) * (1 + _ROUNDING)


def exact_error(mechanism: Piecewise, x: float | Fraction, exponent: int) -> Fraction:
    """``E|Y - x|^exponent`` of a mechanism with affine windows, as an exact rational.

    >>> from mechdesign.words.domains import Interval
    >>> exact_error(Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=0.5, high=1.25), 0.0, 1)
    Fraction(5, 12)
    """
    power = exponent + 1

    def primitive(offset: Fraction) -> Fraction:
        return offset**power / power if offset >= 0 else -((-offset) ** power) / power

    return _exact_expectation(mechanism, x, primitive)


def exact_bias(mechanism: Piecewise, x: float | Fraction) -> Fraction:
    """``E[Y] - x`` of a mechanism with affine windows, as an exact rational.

    >>> from mechdesign.words.domains import Interval
    >>> exact_bias(Piecewise(1.0, Interval(0, 1), Interval(0, 1), low=0.5, high=1.25), 0.5)
    Fraction(0, 1)
    """
    return _exact_expectation(mechanism, x, lambda offset: offset * offset / 2)


def _exact_expectation(
    mechanism: Piecewise, x: float | Fraction, primitive: Callable[[Fraction], Fraction]
) -> Fraction:
    """The expectation of a function of ``Y - x`` with the given primitive."""
    if not isinstance(mechanism.window, AffineWindow):
        raise InvalidInput("mechanism", mechanism.name, "have affine windows")
    width, at = mechanism.exact_width(), Fraction(x)
    if isinstance(mechanism.outputs, Circle):
        at = centre = Fraction(mechanism.outputs.period) / 2  # every input is alike: turn it to the middle
        lower, upper = Fraction(0), Fraction(mechanism.outputs.period)
    else:
        pivot = Fraction(mechanism.window.pivot)
        centre = pivot + Fraction(mechanism.window.slope) * (at - pivot) + Fraction(mechanism.window.offset)
        lower, upper = Fraction(mechanism.outputs.lower), Fraction(mechanism.outputs.upper)
    everywhere = primitive(upper - at) - primitive(lower - at)
    if mechanism.low == mechanism.high:
        return everywhere / (upper - lower)  # the one height is that of the uniform law up to rounding
    start = min(max(centre - width / 2, lower), upper - width) - at
    inside = primitive(start + width) - primitive(start)
    return Fraction(mechanism.low) * everywhere + (Fraction(mechanism.high) - Fraction(mechanism.low)) * inside
