"""Numbers as Coq writes them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any


def whole(number: int) -> str:
    """
    >>> whole(-3)
    '(-3)'
    """
    return str(number) if number >= 0 else f"({number})"


def term(value: Any) -> str:
    """A number, a truth value, a pair, a list (lists of lists one in each line) or a record as Coq writes it.

    >>> term([(1, -2), (3, 4)])
    '[(1, (-2)); (3, 4)]'
    >>> term({"place": 1, "is_end": True})
    '{| place := 1; is_end := true |}'
    """
    match value:
        case bool():
            return str(value).lower()
        case int():
            return whole(value)
        case tuple():
            return f"({', '.join(map(term, value))})"
        case dict():
            return "{{| {} |}}".format("; ".join(f"{name} := {term(part)}" for name, part in value.items()))
        case _:
            apart = ";\n  " if value and isinstance(value[0], list | dict) else "; "
            return f"[{apart.join(map(term, value))}]"


def ratio(number: Fraction) -> str:
    """
    >>> ratio(Fraction(3, 2))
    '(3 / 2)'
    """
    return f"({whole(number.numerator)} / {number.denominator})"


def record(fields: Mapping[str, str]) -> str:
    """A value of a record, one field in each line."""
    return "{{|\n  {} |}}".format(";\n  ".join(f"{name} := {said}" for name, said in fields.items()))


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


def fractions_of(values: Any) -> list[Fraction]:
    """Doubles as they are."""
    return [Fraction(float(value)) for value in values]
