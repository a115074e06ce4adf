"""Numbers as table files write them."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from fractions import Fraction


def decimal(value: float) -> str:
    """The exact decimal expansion of a double.

    >>> decimal(0.25), decimal(-0.0), decimal(0.1)
    ('0.25', '0', '0.1000000000000000055511151231257827021181583404541015625')
    """
    return format(Decimal(float(value)), "f") if value else "0"


def decimals(values: Iterable[float]) -> list[str]:
    return [decimal(value) for value in values]


def rational(value: Fraction | int) -> str:
    """A fraction in lowest terms.

    >>> rational(Fraction(2, 4)), rational(3)
    ('1/2', '3')
    """
    return str(Fraction(value))
