"""The least value of ``sum phi(t)`` over the line, ``phi(t) = min(t, c t)``: what bounds for all mechanisms rest on."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Place = int | Fraction


class Quadratic(NamedTuple):
    """``t(y) = square y^2 + slope y + constant``, negative between ``start`` and ``stop`` (None: without end)."""

    square: int
    slope: int
    constant: int
    start: Place | None
    stop: Place | None


def least_phi_of_quadratics(terms: Iterable[Quadratic], ratio: Fraction) -> Fraction:
    """The least value of ``G(y) = sum phi(t(y))`` over all real y, for ``c = ratio`` and squares that add up above 0.

    Every way to choose t or ``c t`` for each term gives a quadratic above G, and G equals one of them on each piece:
    the least of the unconstrained minima of the pieces' quadratics is the least value of G.

    >>> least_phi_of_quadratics([Quadratic(1, 0, -4, -2, 2)], Fraction(3))  # y^2 - 4
    Fraction(-12, 1)
    """
    gain, one = ratio.numerator - ratio.denominator, ratio.denominator  # all coefficients are multiplied by ``one``
    a = b = d = 0
    changes: dict[Place, tuple[int, int, int]] = {}
    for square, slope, constant, start, stop in terms:
        factor = one if start is not None else one + gain
        a, b, d = a + factor * square, b + factor * slope, d + factor * constant
        for event, change in ((start, gain), (stop, -gain)):
            if event is not None:
                da, db, dd = changes.get(event, (0, 0, 0))
                changes[event] = da + change * square, db + change * slope, dd + change * constant
    least, under = 4 * a * d - b * b, 4 * a
    for event in sorted(changes):
        da, db, dd = changes[event]
        a, b, d = a + da, b + db, d + dd
        value = 4 * a * d - b * b
        if value * under < least * 4 * a:
            least, under = value, 4 * a
    return Fraction(least, under * one)


def least_phi_of_distances(atoms: Iterable[tuple[int, int, int]], ratio: Fraction) -> Fraction:
    """The least value of ``sum w phi(|y - x| - r)`` over all real y, for atoms ``(x, r, w)``.

    It is linear between the events ``x - r``, ``x`` and ``x + r``, so it is least at one of them.

    >>> least_phi_of_distances([(0, 2, 1)], Fraction(3))
    Fraction(-6, 1)
    """
    atoms = list(atoms)
    most, one = ratio.numerator, ratio.denominator  # all slopes and values below are multiplied by ``one``
    changes: dict[int, int] = {}
    for x, r, w in atoms:
        for event, change in ((x - r, (one - most) * w), (x, 2 * most * w), (x + r, (one - most) * w)):
            changes[event] = changes.get(event, 0) + change
    events = sorted(changes)
    slope = -one * sum(w for _, _, w in atoms)
    value = one * sum(w * (x - events[0] - r) for x, r, w in atoms)
    least = value
    for here, following in pairwise(events):
        slope += changes[here]
        value += slope * (following - here)
        least = min(least, value)
    return Fraction(least, one)


def phi_sum(numbers: Iterable[int], ratio: Fraction) -> Fraction:
    """``sum phi(n)`` for ``c = ratio``.

    >>> phi_sum([1, -2], Fraction(3))
    Fraction(-5, 1)
    """
    whole = list(numbers)
    return sum(n for n in whole if n > 0) + ratio * sum(n for n in whole if n < 0)
