"""How far a private report can lean towards any direction, where inputs are sign patterns: bounds from above on H^2.

Inputs are uniform on ``{-1, 1}^d`` and ``c = e^eps``. A report with the likelihoods ``1 + (c - 1) [x in T]`` has the
mean input ``(c - 1) E[x; T] / (1 + (c - 1) P(T))``; H is the greatest length of that over all sets T. It grows with c,
so a rational c above e^eps gives a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import product

from mechdesign.exact.rational import exp_lower, exp_upper

MOST_BY_SETS = 7
"""The most signs with which all sets are tried: 44,315 of them."""


def lean_by_sets(count: int, ratio: Fraction) -> Fraction:
    """H^2 for so many signs, exactly.

    With u the direction of the mean of the best T, T is ``{x : u.x > t}`` for some t; by symmetry
    ``u_1 >= ... >= u_d >= 0``. Such a set has with every pattern all those whose sums of the first 1, 2, ..., d signs
    are nowhere smaller: all sets with that property are tried.

    >>> lean_by_sets(2, Fraction(3)), lean_by_sets(1, Fraction(3))
    (Fraction(1, 4), Fraction(1, 4))
    """
    whole = 1 << count
    gain = ratio - 1
    return max(
        gain**2 * square / (whole + gain * size) ** 2 for size, square in enumerate(_largest_sums(count)) if square
    )


@lru_cache(maxsize=MOST_BY_SETS)
def _largest_sums(count: int) -> tuple[int, ...]:
    """For every size of T the largest ``|sum of the patterns in T|^2``."""
    best = [0] * ((1 << count) + 1)
    for size, total in _upper_sets(count):
        best[size] = max(best[size], sum(entry * entry for entry in total))
    return tuple(best)


def _upper_sets(count: int) -> Iterator[tuple[int, tuple[int, ...]]]:
    """The size and the sum of every set that has with a pattern all those above it."""
    patterns = sorted(product((1, -1), repeat=count), key=_sums, reverse=True)
    places = {pattern: place for place, pattern in enumerate(patterns)}
    below = [[places[lower] for lower in _next_lower(pattern)] for pattern in patterns]
    above = [0] * len(patterns)
    for place, lower in enumerate(below):
        for one in lower:
            above[one] |= 1 << place
    # patterns come in an order in which those above stand first: each set is met once, by its last pattern
    waiting = [(0, 0, 0, (0,) * count)]
    while waiting:
        first, held, size, total = waiting.pop()
        yield size, total
        for place in range(first, len(patterns)):
            if above[place] & ~held == 0:
                more = tuple(a + b for a, b in zip(total, patterns[place], strict=True))
                waiting.append((place + 1, held | 1 << place, size + 1, more))


def _sums(pattern: Sequence[int]) -> tuple[int, tuple[int, ...]]:
    """Sums of first signs, and their sum before them: larger than that of every pattern below."""
    sums, total = [], 0
    for sign in pattern:
        total += sign
        sums.append(total)
    return sum(sums), tuple(sums)


def _next_lower(pattern: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """The patterns just below: a plus moved on by one place, or the last one lost."""
    for place, sign in enumerate(pattern):
        if sign == 1 and place == len(pattern) - 1:
            yield (*pattern[:-1], -1)
        elif sign == 1 and pattern[place + 1] == -1:
            yield (*pattern[:place], -1, 1, *pattern[place + 2 :])


def lean_by_pairs(count: int, ratio: Fraction, prices: Sequence[Fraction], slope: Fraction, size: Fraction) -> Fraction:
    """A bound on H^2 from how many pairs of patterns of T differ in 1, 2, ..., d signs.

    With the squared Fourier coefficients of T's indicator summed by level, ``B_0 = P(T)^2`` and ``sum B = P(T)``, a T
    has ``|E[x; T]|^2 = B_1``, and the share of pairs that differ in i signs is a multiple of ``sum_j B_j k_i(j) >= 0``,
    k_i the Krawtchouk polynomial divided by its value at 0. Also ``B_0 >= 2 m P(T) - m^2`` for any m. So H^2 is at most
    every number h that for prices ``a >= 0`` and a slope ``s >= 0`` satisfies, with ``g = 1 / (c - 1)``,

        ``[j = 1] + sum_i a_i k_i(j) + s ([j = 0] - 2 m) <= h (2 g + [j = 0])`` for all j, and ``s m^2 <= h g^2``,

    as ``B_1 <= h (B_0 + 2 g P(T) + g^2) = h (P(T) + g)^2`` follows. The least of them is the bound.

    >>> float(lean_by_pairs(2, Fraction(3), [Fraction(0), Fraction(0)], Fraction(1), Fraction(1, 2)))
    1.0
    """
    gap = 1 / (ratio - 1)
    least = slope * size**2 / gap**2
    for level in range(count + 1):
        paid = sum((price * krawtchouk(count, i, level) for i, price in enumerate(prices, 1)), Fraction(level == 1))
        least = max(least, (paid + slope * ((level == 0) - 2 * size)) / (2 * gap + (level == 0)))
    return least


@lru_cache(maxsize=1 << 14)
def krawtchouk(count: int, distance: int, level: int) -> Fraction:
    """The mean of a product of ``level`` signs over the patterns that differ from all ones in ``distance`` places."""
    total = sum(
        (-1) ** both * math.comb(level, both) * math.comb(count - level, distance - both)
        for both in range(max(0, distance - count + level), min(level, distance) + 1)
    )
    return Fraction(total, math.comb(count, distance))


def lean_by_squares(ratio: Fraction) -> Fraction:
    """``(c - 1)^2 / (4 c)``, a bound on H^2 for any number of signs: ``|E[x; T]|^2 <= P(T) - P(T)^2`` (Parseval).

    >>> lean_by_squares(Fraction(3))
    Fraction(1, 3)
    """
    return (ratio - 1) ** 2 / (4 * ratio)


def lean_by_tails(epsilon: float) -> Fraction:
    """A bound on H^2 for any number of signs, as u.x is sub-Gaussian for every unit u.

    H is the largest h of any u with ``(c - 1) E[u.x - h]_+ = h``, and ``[t]_+ <= e^(l t - 1) / l``: so H is at most
    every h with ``(c - 1) e^(l^2 / 2 - l h - 1) <= l h`` for some l (the level-1 inequality says as much).

    >>> round(float(lean_by_tails(4.0)), 3), round(float(lean_by_squares(exp_upper(4.0))), 3)
    (3.323, 13.154)
    """
    gain = exp_upper(epsilon) - 1
    height = Fraction(_tail_height(math.expm1(epsilon)))
    while True:
        steep = Fraction(_steepest(float(height)))
        if gain / exp_lower(1 + steep * height - steep**2 / 2) <= steep * height:
            return height**2
        height *= 1 + Fraction(1, 1 << 40)


def _steepest(height: float) -> float:
    return (height + math.sqrt(height * height + 4)) / 2


def _tail_height(gain: float) -> float:
    """Where both sides are equal, in doubles: the proof begins there."""
    low, high = 0.0, 1.0 + gain
    for _ in range(200):
        middle = (low + high) / 2
        steep = _steepest(middle)
        held = math.log(gain) + steep * steep / 2 - steep * middle - 1 <= math.log(steep * middle)
        low, high = (low, middle) if held else (middle, high)
    return high
