"""The report of a pattern of signs: one near one's own more often than others, and the estimates that it makes.

Of d numbers with ranges of half-lengths ``b_j`` a person draws k, number j with the chance ``p_j``, rounds each to a
sign s without bias (plus with the chance ``(1 + x / b) / 2``) and reports a pattern that differs from s in at most r
signs with c times the chance of others. A number that was drawn is estimated by ``A b_j / p_j`` times its reported
sign, others by 0. Then ``E[Y|x] = x``, and ``E|Y|^2 = A^2 sum b_j^2 / p_j`` for every x.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from mechdesign.errors import CheckFailed
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.values.declare import Counts, frozen, whole
from mechdesign.words.domains import Finite

MOST_DRAWN = 8
"""More would make tables of more than 256 patterns."""

_TOWARDS_PRIVACY = 2.0**-50


@frozen
class PatternResponse:
    """How many numbers are drawn, and in how many signs a pattern may differ from one's own and still be favoured.

    >>> PatternResponse(2).patterns.tolist()
    [[-1, -1], [1, -1], [-1, 1], [1, 1]]
    """

    drawn: int = whole("drawn", 1, MOST_DRAWN)
    reach: int = whole("reach", 0, MOST_DRAWN, default=0)

    @property
    def size(self) -> int:
        """How many patterns there are."""
        return 1 << self.drawn

    @property
    def patterns(self) -> Counts:
        """The signs of each pattern: bit j of its number is 1 where sign j is plus."""
        bits = np.arange(self.size)[:, None] >> np.arange(self.drawn) & 1
        return np.asarray(2 * bits - 1)

    @property
    def names(self) -> tuple[str, ...]:
        """The signs of each pattern in words.

        >>> PatternResponse(2).names
        ('minus/minus', 'plus/minus', 'minus/plus', 'plus/plus')
        """
        return tuple("/".join("plus" if sign > 0 else "minus" for sign in row) for row in self.patterns.tolist())

    @property
    def favoured(self) -> int:
        """How many patterns are at most ``reach`` signs away from one's own."""
        return sum(math.comb(self.drawn, away) for away in range(self.reach + 1))

    @property
    def lean(self) -> int:
        """The sum of one sign over the favoured patterns, if one's own is plus."""
        return sum(
            math.comb(self.drawn - 1, away) - (math.comb(self.drawn - 1, away - 1) if away else 0)
            for away in range(self.reach + 1)
        )

    def factor(self, ratio: Fraction) -> Fraction:
        """A, the inverse of how much of a sign is left in its report.

        >>> PatternResponse(1).factor(Fraction(3)), PatternResponse(2).factor(Fraction(3))
        (Fraction(2, 1), Fraction(3, 1))
        """
        return (self.size + (ratio - 1) * self.favoured) / ((ratio - 1) * self.lean)

    def shares(self, halves: Sequence[Fraction]) -> list[Fraction]:
        """The chance with which each number is drawn: in proportion to its range, and at most 1.

        >>> [str(share) for share in PatternResponse(2).shares([Fraction(4), Fraction(1), Fraction(1)])]
        ['1', '1/2', '1/2']
        """
        sure: set[int] = set()
        while True:
            rest = sum(half for place, half in enumerate(halves) if place not in sure)
            left = self.drawn - len(sure)
            over = {place for place, half in enumerate(halves) if place not in sure and left * half > rest}
            if not over:
                return [Fraction(1) if j in sure else left * half / rest for j, half in enumerate(halves)]
            sure |= over

    def second_moment(self, ratio: Fraction, halves: Sequence[Fraction]) -> Fraction:
        """``E|Y|^2``, and so the worst variance: at the middle of the box nothing is subtracted."""
        spread = sum(half**2 / share for half, share in zip(halves, self.shares(halves), strict=True))
        return self.factor(ratio) ** 2 * spread

    def channel(self, epsilon: float) -> Discrete:
        """The law of reported patterns."""
        numbers = np.arange(self.size)
        away = (self.patterns[:, None, :] != self.patterns[None, :, :]).sum(axis=2)
        ratio = max(1.0, math.exp(epsilon) * (1 - _TOWARDS_PRIVACY))
        low = 1 / (self.size + (ratio - 1) * self.favoured)
        items = Finite(tuple(numbers.tolist()))
        return Discrete(epsilon, items, items, np.where(away <= self.reach, low * ratio, low), "sign patterns")

    @classmethod
    def of(cls, mechanism: Discrete) -> tuple[PatternResponse, Fraction]:
        """How a table draws patterns and the ratio of its two chances, or `CheckFailed` if it does not.

        >>> PatternResponse.of(PatternResponse(3, 1).channel(1.0))[0]
        PatternResponse(drawn=3, reach=1)
        """
        table = mechanism.probabilities
        drawn = len(table).bit_length() - 1
        if not mechanism.inputs == mechanism.outputs == Finite(tuple(range(len(table)))):
            raise CheckFailed("the inputs and outputs of the mechanism are not the numbers of patterns")
        high, low = float(table.max()), float(table.min())
        favoured = int((table[0] == high).sum()) if high > low > 0 else 0
        for reach in range(drawn):
            if not 1 <= drawn <= MOST_DRAWN or table.shape != (1 << drawn, 1 << drawn):
                break
            found = cls(drawn, reach)
            if found.favoured == favoured:
                away = (found.patterns[:, None, :] != found.patterns[None, :, :]).sum(axis=2)
                if np.array_equal(table, np.where(away <= reach, high, low)):
                    return found, Fraction(high) / Fraction(low)
        raise CheckFailed("the mechanism is no response with two chances over the patterns of up to 8 signs")
