"""Sums over a peaked law (`mechdesign.mechanisms.hidden`) in whole numbers, rounded outward.

Beside the peak k0 the law has two binomial-shaped pieces. With ``c = categories - 1`` and the ratio r their terms are

    left:   u_(k-1) / u_k = k / ((n - k + 1) c r),      right:  u_(k+1) / u_k = (n - k) c / ((k + 1) r),   u_k0 = 1,

so each piece is a sum of products of whole numbers. All terms are multiples of ``2^-BITS``, once rounded down and once
up, with r between two rationals; what is left out at the end is bounded, as ratios fall.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import frozen

BITS = 224
_MOST_GROWTH = 1 << 4096
"""A piece that grows this far above its peak is of no use to anybody: the law would be peaked elsewhere."""

Ends = tuple[Fraction, Fraction]
"""An interval that holds a number."""


@frozen
class Piece:
    """One side of the peak: enclosures of ``sum_j j^r u`` for r = 0, 1, 2 over the distance j = 1, 2, ... from it."""

    sums: tuple[Ends, Ends, Ends]

    def of(self, constant: Fraction, linear: Fraction, square: Fraction) -> Ends:
        """An enclosure of ``sum_j (constant + linear j + square j^2) u``."""
        parts = [scaled(end, by) for end, by in zip(self.sums, (constant, linear, square), strict=True)]
        return sum((low for low, _ in parts), Fraction(0)), sum((high for _, high in parts), Fraction(0))


def scaled(ends: Ends, by: Fraction) -> Ends:
    """An interval times a number."""
    one, other = ends[0] * by, ends[1] * by
    return (one, other) if one <= other else (other, one)


@frozen
class Peaked:
    """Both pieces of a law with its peak at ``peak``."""

    users: int
    peak: int
    left: Piece
    right: Piece

    def pieces(self, quadratic: Sequence[Fraction]) -> tuple[Ends, Fraction, Ends]:
        """``sum u g`` left of, at and right of the peak for ``g(k) = a + b k + c k^2``, ``quadratic`` being a, b, c."""
        a, b, c = quadratic
        k = self.peak
        here, slope = a + b * k + c * k * k, b + 2 * c * k
        return self.left.of(here, -slope, c), here, self.right.of(here, slope, c)

    def mean(self, quadratic: Sequence[Fraction]) -> Ends:
        """An enclosure of the expectation of a quadratic in the number of liars."""
        a, b, c = quadratic
        k = self.peak
        here, slope = a + b * k + c * k * k, b + 2 * c * k
        (left, right), total = (self.left.sums, self.right.sums), self.total
        first = right[1][0] - left[1][1], right[1][1] - left[1][0]
        second = right[2][0] + left[2][0], right[2][1] + left[2][1]
        moved = [scaled(first, slope), scaled(second, c)]
        low, high = moved[0][0] + moved[1][0], moved[0][1] + moved[1][1]
        return (
            here + low / (total[1] if low >= 0 else total[0]),
            here + high / (total[0] if high >= 0 else total[1]),
        )

    @property
    def total(self) -> Ends:
        """Of all terms, that of the peak being 1."""
        return 1 + self.left.sums[0][0] + self.right.sums[0][0], 1 + self.left.sums[0][1] + self.right.sums[0][1]


@lru_cache(maxsize=4096)
def peaked(users: int, peak: int, ratio: Ends, wrong: int) -> Peaked:
    """The sums of a law whose ratio lies between two rationals; ``wrong`` is the number of wrong values c.

    >>> law = peaked(4, 0, (Fraction(3), Fraction(3)), 1)  # independent: 4 users who lie with probability 1/4
    >>> [float(end) for end in law.mean((Fraction(0), Fraction(1), Fraction(0)))]
    [1.0, 1.0]
    """
    if not 0 <= peak <= users:
        raise InvalidInput("peak", peak, f"lie between 0 and {users}")
    left = Piece(_sums(users, users - peak, (1 / (wrong * wrong * ratio[1]), 1 / (wrong * wrong * ratio[0])), wrong))
    right = Piece(_sums(users, peak, (1 / ratio[1], 1 / ratio[0]), wrong))
    return Peaked(users, peak, left, right)


def _sums(users: int, start: int, factor: Ends, wrong: int) -> tuple[Ends, Ends, Ends]:
    """Terms ``u`` with ``u_0 = 1`` and ``u_j / u_(j-1) = (n - k) / (k + 1) wrong factor``, k = start, start + 1, ...

    (To the left the same with k counted from the other end: the truthful instead of the liars.)
    """
    low_over, low_shift = _coarse(factor[0] * wrong, up=False)
    high_over, high_shift = _coarse(factor[1] * wrong, up=True)
    low = high = 1 << BITS
    lows, highs = [0, 0, 0], [0, 0, 0]
    for j in range(1, users - start + 1):
        k = start + j - 1
        rest = users - k
        low = low * low_over * rest // (k + 1) >> low_shift
        high = -(-high * high_over * rest // (k + 1) >> high_shift)
        square = j * j
        lows[0] += low
        lows[1] += j * low
        lows[2] += square * low
        highs[0] += high
        highs[1] += j * high
        highs[2] += square * high
        if high > _MOST_GROWTH:
            raise InvalidInput("peak", start, "lie nearer to where its law has its mean")
        if low == 0 and (users - k - 1) * high_over <= (k + 2) << high_shift:
            # terms fall from here on: all that follow are at most `high`, and there are fewer than users
            more = high * users
            highs = [highs[0] + more, highs[1] + more * users, highs[2] + more * users * users]
            break
    unit = 1 << BITS
    first, second, third = ((Fraction(a, unit), Fraction(b, unit)) for a, b in zip(lows, highs, strict=True))
    return first, second, third


def _coarse(value: Fraction, *, up: bool) -> tuple[int, int]:
    """A bound of the value as a whole number times a power of 1/2, short enough to multiply with quickly."""
    shift = max(0, BITS - (value.numerator.bit_length() - value.denominator.bit_length()))
    moved = value * (1 << shift)
    return (-((-moved.numerator) // moved.denominator) if up else int(moved)), shift
