"""The least of ``sum phi(t)``, ``phi(t) = min(t, c t)``: what proofs for all mechanisms end in.

A mechanism is epsilon-LDP on finitely many inputs iff some base measure mu satisfies ``mu <= q(.|x) <= c mu`` for all
of them, ``c = e^eps``. A function t_x for each input then obeys ``sum_x E[t_x(Y)|x] >= sum_y mu(y) G(y)`` with
``G(y) = sum_x phi(t_x(y))``: the least of G is what has to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

Place = int | Fraction


class Quadratic(NamedTuple):
    """``(y - root)(steep y + rise)`` in whole numbers, with ``steep >= 0``."""

    steep: int
    rise: int
    root: int

    @property
    def coefficients(self) -> tuple[int, int, int]:
        return self.steep, self.rise - self.steep * self.root, -self.rise * self.root

    def negative(self) -> tuple[Place | None, Place | None]:
        """Where it is negative, from and to; None is infinity."""
        if not self.steep:
            return (None, self.root) if self.rise > 0 else (self.root, None)
        whole, rest = divmod(-self.rise, self.steep)
        other = Fraction(-self.rise, self.steep) if rest else whole
        return min(self.root, other), max(self.root, other)


def phi_sum(numbers: Iterable[int], ratio: Fraction) -> Fraction:
    """``sum phi(n)``, with ``ratio`` for c.

    >>> phi_sum([1, -2], Fraction(3))
    Fraction(-5, 1)
    """
    whole = list(numbers)
    return sum(n for n in whole if n > 0) + ratio * sum(n for n in whole if n < 0)


def least_phi_sum(quadratics: Sequence[Quadratic], ratio: Fraction) -> Fraction:
    """The least value of ``sum phi(t)`` over all real y; one of the quadratics must be steep.

    Every way to choose t or ``c t`` for each term gives a quadratic above G, and G equals one of them on each piece:
    the least of the unconstrained minima of the pieces' quadratics is the least value of G.

    >>> least_phi_sum([Quadratic(1, 1, 1)], Fraction(3))  # y^2 - 1, three times it below 0
    Fraction(-3, 1)
    """
    one, gain = ratio.denominator, ratio.numerator - ratio.denominator  # all coefficients are multiplied by ``one``
    a = b = d = 0
    changes: dict[Place, tuple[int, int, int]] = {}
    for term in quadratics:
        coefficients = term.coefficients
        start, stop = term.negative()
        factor = one if start is not None else one + gain
        a, b, d = (total + factor * own for total, own in zip((a, b, d), coefficients, strict=True))
        for event, change in ((start, gain), (stop, -gain)):
            if event is not None:
                before = changes.get(event, (0, 0, 0))
                da, db, dd = (entry + change * own for entry, own in zip(before, coefficients, strict=True))
                changes[event] = da, db, dd
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
