"""Tables with an epsilon for each pair of inputs: how a channel is rounded so that every pair keeps its own.

Counts are off by less than one, so a pair with ratio c breaks by less than ``1 + c`` counts. Mixing in a share t of the
uniform law leaves a pair ``t (c - 1) 2^bits / m`` counts of room in each of m outputs: the least c of any pair says t.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from mechdesign.errors import MAX_EPSILON, InvalidInput
from mechdesign.tables import checker
from mechdesign.tables.channels import whole_weights
from mechdesign.tables.document import rational
from mechdesign.tables.rounding import CAP_BITS, cumulative, require_size, too_few_bits
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.pairs import Pairs, Pairwise

_ROOM = 2.0  # times the room that rounding needs at most
_MOST_SHARE = 0.1
_ATTEMPTS = 4
_CLOSE = 1e-9  # quotients of counts nearer to a limit than this, relative, are decided in integers


@frozen
class Limits:
    """The epsilon of each ordered pair of inputs: its place in ``epsilons``, or -1 where the pair has no limit."""

    epsilons: tuple[Fraction, ...]
    of: tuple[tuple[int, ...], ...]

    @classmethod
    def read(cls, said: Any) -> Limits:
        return cls(tuple(map(Fraction, said["epsilons"])), tuple(map(tuple, said["of"])))

    def written(self) -> dict[str, Any]:
        """What a file holds under ``pairs`` in its law."""
        return {"epsilons": [rational(eps) for eps in self.epsilons], "of": [list(row) for row in self.of]}

    @classmethod
    def of_privacy(cls, privacy: Pairs) -> Limits:
        """Of all pairs that are protected along some path; more than 64 is written as 64.

        >>> Limits.of_privacy(Pairwise([[0, 0.5], [math.inf, 0]]))
        Limits(epsilons=(Fraction(1, 2),), of=((-1, 0), (-1, -1)))
        """
        closed = np.minimum(privacy.closed, np.where(np.isfinite(privacy.closed), MAX_EPSILON, math.inf))
        limited = np.isfinite(closed) & ~np.eye(len(closed), dtype=bool)
        different = np.unique(closed[limited])
        places = np.where(limited, np.searchsorted(different, closed), -1)
        return cls(tuple(map(Fraction, different.tolist())), tuple(map(tuple, places.tolist())))

    @property
    def privacy(self) -> Pairwise:
        """The same as a value."""
        numbers = np.array([*map(float, self.epsilons), math.inf])
        matrix = numbers[np.array(self.of)]
        np.fill_diagonal(matrix, 0.0)
        return Pairwise(matrix)


def counts_for_pairs(table: Floats, privacy: Pairs, limits: Limits, bits: int) -> tuple[list[list[int]], Fraction]:
    """Counts whose rows sum to ``2^bits`` and keep every pair in integers, and the share of the uniform law in them.

    >>> privacy = Pairwise([[0, 1], [1, 0]])
    >>> counts_for_pairs(np.array([[0.7, 0.3], [0.3, 0.7]]), privacy, Limits.of_privacy(privacy), 16)
    ([[45872, 19664], [19664, 45872]], Fraction(1, 4096))
    """
    size, outputs = table.shape
    whole = 1 << bits
    caps = [checker.exponential(eps) for eps in limits.epsilons]
    ratio = min(caps, default=3 << CAP_BITS) / 2**CAP_BITS

    def share(bits: int) -> float:
        return float(_ROOM * outputs * (ratio + 1) / ((ratio - 1) * 2.0**bits))

    if share(bits) > _MOST_SHARE:
        raise too_few_bits(bits, lambda more: share(more) <= _MOST_SHARE)
    require_size(float(size * outputs * (bits * 0.30103 + 2)))
    rows = [whole_weights(row) for row in table.tolist()]
    for attempt in range(_ATTEMPTS):
        exponent = math.ceil(math.log2(share(bits))) + attempt
        mixed = Fraction(2) ** exponent
        counts = []
        for row in rows:
            total = sum(row)
            part, base = mixed.numerator, mixed.denominator
            masses = [(base - part) * outputs * weight + part * total for weight in row]
            counts.append(cumulative(masses, base * outputs * total, Fraction(whole)))
        if min(map(min, counts)) > 0 and keeps_pairs(counts, limits, caps):
            return counts, mixed
    raise InvalidInput("privacy", "a table", "keep its pairs before it is rounded", "make it from a design")


def keeps_pairs(counts: Sequence[Sequence[int]], limits: Limits, caps: Sequence[int]) -> bool:
    """Whether every pair with a limit keeps it: doubles decide what is not close, integers the rest."""
    doubles = np.array(counts, dtype=np.float64)
    most = np.array([*(cap / 2**CAP_BITS for cap in caps), math.inf])
    for first, row in enumerate(doubles):
        limit = most[np.array(limits.of[first])]
        worst = (row / doubles).max(axis=1)
        if (worst > limit * (1 + _CLOSE)).any():
            return False
        for second in np.flatnonzero(worst > limit * (1 - _CLOSE)).tolist():
            cap = caps[limits.of[first][second]]
            pairs = zip(counts[first], counts[second], strict=True)
            if any(a << CAP_BITS > cap * b for a, b in pairs):
                return False
    return True


def least_epsilon(counts: Sequence[Sequence[int]]) -> Fraction:
    """The least double that the ratio of any two counts of an output keeps, in integers, as tables state it.

    >>> round(float(least_epsilon([[1, 3], [2, 2]])), 12) == round(math.log(2), 12)
    True
    """
    ratio = max(Fraction(max(column), min(column)) for column in zip(*counts, strict=True))
    epsilon = max(math.log(ratio.numerator) - math.log(ratio.denominator), float(checker.LEAST_EPSILON))
    while checker.exponential(Fraction(epsilon)) * ratio.denominator < ratio.numerator << CAP_BITS:
        epsilon = epsilon * (1 + 2.0**-50)
    return Fraction(epsilon)
