"""The least of ``sum phi(t)`` for quadratics t, ``phi(t) = min(t, c t)``: what proofs about variances end in.

A mechanism is epsilon-LDP on finitely many inputs iff some base measure mu satisfies ``mu <= q(.|x) <= c mu`` for all
of them, ``c = e^eps``. A function t_x for each input then obeys ``sum_x E[t_x(Y)|x] >= sum_y mu(y) G(y)`` with
``G(y) = sum_x phi(t_x(y))``: the least of G is what has to be known.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import NamedTuple


class Quadratic(NamedTuple):
    """``(y - root)(steep y + rise)`` in whole numbers, with ``steep >= 0``."""

    steep: int
    rise: int
    root: int

    @property
    def coefficients(self) -> tuple[int, int, int]:
        return self.steep, self.rise - self.steep * self.root, -self.rise * self.root

    def negative(self) -> tuple[Fraction | None, Fraction | None]:
        """Where it is negative, from and to; None is infinity."""
        root = Fraction(self.root)
        if not self.steep:
            return (None, root) if self.rise > 0 else (root, None)
        other = Fraction(-self.rise, self.steep)
        return min(root, other), max(root, other)


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
    one, gain = ratio.denominator, ratio.numerator - ratio.denominator
    everywhere = [sum(column) for column in zip(*(term.coefficients for term in quadratics), strict=True)]
    covered = [0, 0, 0]
    changes: dict[Fraction, list[int]] = {}
    for term in quadratics:
        start, stop = term.negative()
        for event, sign in ((start, 1), (stop, -1)):
            if event is not None:
                entry = changes.setdefault(event, [0, 0, 0])
                for k, coefficient in enumerate(term.coefficients):
                    entry[k] += sign * coefficient
        if start is None:
            covered = [c + t for c, t in zip(covered, term.coefficients, strict=True)]

    def least_of_piece() -> Fraction:
        a, b, d = (one * e + gain * c for e, c in zip(everywhere, covered, strict=True))
        return Fraction(4 * a * d - b * b, 4 * a)

    least = least_of_piece()
    for event in sorted(changes):
        covered = [c + change for c, change in zip(covered, changes[event], strict=True)]
        least = min(least, least_of_piece())
    return least / one
