"""Numbers as Coq writes them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction


def whole(number: int) -> str:
    """
    >>> whole(-3)
    '(-3)'
    """
    return str(number) if number >= 0 else f"({number})"


def row(numbers: Iterable[int]) -> str:
    """
    >>> row([1, -2])
    '[1; (-2)]'
    """
    return f"[{'; '.join(map(whole, numbers))}]"


def rows(lists: Iterable[Iterable[int]]) -> str:
    """A list of lists, one in each line."""
    return "[{}]".format(";\n  ".join(map(row, lists)))


def ratio(number: Fraction) -> str:
    """
    >>> ratio(Fraction(3, 2))
    '(3 / 2)'
    """
    return f"({whole(number.numerator)} / {number.denominator})"


def record(fields: dict[str, str]) -> str:
    """A value of a record, one field in each line."""
    return "{{|\n  {} |}}".format(";\n  ".join(f"{name} := {term}" for name, term in fields.items()))


def on_one_scale(numbers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Whole numbers, and what they are over.

    >>> on_one_scale([Fraction(1, 2), Fraction(1, 3)])
    ([3, 2], 6)
    """
    scale = math.lcm(*(number.denominator for number in numbers))
    return [int(number * scale) for number in numbers], scale


def shorten(number: Fraction, digits: int = 12) -> Fraction:
    """The number rounded down to so many decimal digits: what a theorem says is to be read.

    >>> shorten(Fraction(2, 3), 3)
    Fraction(333, 500)
    """
    if not number:
        return number
    unit = Fraction(10) ** (digits - len(str(int(abs(number)))) if abs(number) >= 1 else digits)
    while abs(number) * unit < 10 ** (digits - 1):
        unit *= 10
    return Fraction(math.floor(number * unit)) / unit
