"""Decimals that never overstate: what a person reads of a bound holds as it is printed."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal

DIGITS = 10
"""How many digits of a bound are printed, if nothing else is asked for."""


def rounded_down(value: float, digits: int = DIGITS) -> str:
    """``value`` to so many significant digits, never above it.

    >>> rounded_down(0.19999999999), rounded_down(2 / 3, 3)
    ('0.1999999999', '0.666')
    """
    return _rounded(value, digits, ROUND_FLOOR)


def rounded_up(value: float, digits: int = DIGITS) -> str:
    """``value`` to so many significant digits, never below it.

    >>> rounded_up(0.1, 3), rounded_up(2 / 3, 3)
    ('0.101', '0.667')
    """
    return _rounded(value, digits, ROUND_CEILING)


def _rounded(value: float, digits: int, direction: str) -> str:
    exact = Decimal(value)
    if not exact.is_finite() or not exact:
        return f"{value:g}"
    last = Decimal(1).scaleb(exact.adjusted() - digits + 1)
    with_digits = (exact / last).to_integral_value(rounding=direction) * last
    return _plain(with_digits)


def shortest(value: float) -> str:
    """The shortest decimal that reads back as the same number.

    >>> shortest(2.0), shortest(0.1 + 0.2), shortest(1e-5)
    ('2', '0.30000000000000004', '1e-05')
    """
    return repr(float(value)).removesuffix(".0")


def shared_digits(lower: float, upper: float) -> str:
    """The decimal digits every number between the two begins with; empty if not even the first is sure.

    >>> shared_digits(0.31616897, 0.31616898), shared_digits(9.99, 10.01)
    ('0.3161689', '')
    """
    finest = Decimal("1e-17")
    low, high = (f"{Decimal(end).quantize(finest, ROUND_FLOOR):f}" for end in (lower, upper))
    if len(low) != len(high):
        return ""
    count = next((k for k, (a, b) in enumerate(zip(low, high, strict=True)) if a != b), len(low))
    prefix = low[:count].rstrip(".")
    return prefix if "." in low[:count] and prefix.strip("0.") else ""


def _plain(number: Decimal) -> str:
    exponent = number.adjusted() if number else 0
    return f"{number:f}" if -5 < exponent < 16 else f"{number:e}"
