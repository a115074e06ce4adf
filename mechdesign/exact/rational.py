"""Rational bounds of the exponential and directed rounding to doubles. Each name says the direction it rounds."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

_BITS = 192


def exp_lower(exponent: Fraction | float) -> Fraction:
    """A rational at most ``e^exponent``, within a relative 2^-160.

    >>> Fraction(271828182845904523536, 10**20) < exp_lower(1) < Fraction(271828182845904523537, 10**20)
    True
    """
    return _exp_bounds(Fraction(exponent))[0]


def exp_upper(exponent: Fraction | float) -> Fraction:
    """A rational at least ``e^exponent``, within a relative 2^-160."""
    return _exp_bounds(Fraction(exponent))[1]


def float_down(value: Fraction) -> float:
    """The largest double at most ``value``.

    >>> float_down(Fraction(1, 10)) == 0.1, Fraction(float_down(Fraction(1, 10))) <= Fraction(1, 10)
    (False, True)
    """
    nearest = float(value)
    return nearest if Fraction(nearest) <= value else math.nextafter(nearest, -math.inf)


def float_up(value: Fraction) -> float:
    """The smallest double at least ``value``."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)


def root_up(square: Fraction) -> Fraction:
    """A rational at least the root of one that is at least 0, and above it by a part of less than 2^-180 of it.

    >>> root_up(Fraction(9, 4)), root_up(Fraction(0)), float(root_up(Fraction(2))) == math.sqrt(2)
    (Fraction(3, 2), Fraction(0, 1), True)
    """
    whole = square.numerator * square.denominator
    shift = max(0, _BITS - whole.bit_length() // 2)
    root = math.isqrt(whole << 2 * shift)
    above = root if root * root == whole << 2 * shift else root + 1
    return Fraction(above, square.denominator << shift)


@lru_cache(maxsize=256)
def _exp_bounds(exponent: Fraction) -> tuple[Fraction, Fraction]:
    if exponent < 0:
        below, above = _exp_bounds(-exponent)
        return 1 / above, 1 / below
    halvings = max(0, math.ceil(exponent).bit_length() + 1)
    bits = _BITS + 2 * halvings  # every squaring doubles the relative error
    scaled = exponent * (1 << bits) / (1 << halvings)
    lower, upper = _taylor_floor(math.floor(scaled), bits), _taylor_ceil(math.ceil(scaled), bits)
    for _ in range(halvings):
        lower = (lower * lower) >> bits
        upper = -((-upper * upper) >> bits)
    return Fraction(lower, 1 << bits), Fraction(upper, 1 << bits)


def _taylor_floor(argument: int, bits: int) -> int:
    """At most ``2^bits e^(argument / 2^bits)``: every term of the series is rounded down, the rest left out."""
    term = total = 1 << bits
    order = 0
    while term:
        order += 1
        term = (term * argument) // (order << bits)
        total += term
    return total


def _taylor_ceil(argument: int, bits: int) -> int:
    """At least ``2^bits e^(argument / 2^bits)`` for arguments up to 1/2: terms rounded up, the rest bounded.

    Terms at least halve, so all that follow a term of 1 add up to at most 2.
    """
    term = total = 1 << bits
    order = 0
    while term > 1:
        order += 1
        term = -((-term * argument) // (order << bits))
        total += term
    return total + 2
