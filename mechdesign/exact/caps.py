"""Caps of the sphere of R^d, and signed sets of its axes: how large they are, and how far directions in them lean.

A coordinate u of a uniform direction has the density ``C (1 - u^2)^((d-3)/2)``. So ``E[u; u > t]`` is
``C (1 - t^2)^((d-1)/2) / (d - 1)``, and with ``a = (d - 1) / 2`` and all terms positive (the incomplete beta function)

    ``P(0 < u < t) = C t (1 - t^2)^a (1 + d/3 t^2 + d/3 (d+2)/5 t^4 + ...)``.

Numbers of caps are multiples of ``2^-192``, one rounded down beside one rounded up.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple

from mechdesign.exact.rational import exp_lower, exp_upper

_BITS = 192
_ONE = 1 << _BITS
_SMALLEST = 1 << _BITS // 2  # a power below 2^-96: the cap is as good as empty


class Between(NamedTuple):
    """A number that is known to lie between two rationals."""

    lower: Fraction
    upper: Fraction


class CapBounds(NamedTuple):
    """Directions whose inner product u with a given one is above a height: ``P(u > t)`` and ``E[u; u > t]``."""

    share: Between
    lean: Between


@lru_cache(maxsize=1024)
def cap_above(count: int, height: float) -> CapBounds:
    """The cap of the sphere of R^count above a height in [0, 1).

    >>> found = cap_above(3, 0.5)  # of a sphere in space u is uniform on [-1, 1]
    >>> found.share.lower <= Fraction(1, 4) <= found.share.upper
    True
    >>> float(found.share.upper - found.share.lower) < 1e-30, round(float(found.lean.lower), 12)
    (True, 0.1875)
    """
    square = Fraction(height) ** 2
    below, above = _density(count)
    power_below, power_above = _root_power(1 - square, count - 1)
    lean = Between(
        Fraction(below * power_below // (count - 1), _ONE**2),
        Fraction(-(-above * power_above // (count - 1)), _ONE**2),
    )
    if power_above < _SMALLEST:
        return CapBounds(Between(Fraction(0), min(Fraction(1, 2), lean.upper / Fraction(height))), lean)
    series = _series(count, square)
    rest_below = Fraction(height) * Fraction(below * power_below * series[0], _ONE**3)
    rest_above = Fraction(height) * Fraction(above * power_above * series[1], _ONE**3)
    half = Fraction(1, 2)
    return CapBounds(Between(max(Fraction(0), half - rest_above), half - rest_below), lean)


@lru_cache(maxsize=256)
def lean_by_caps(count: int, epsilon: float) -> Fraction:
    """At least ``H = max over t of (c - 1) E[u; u > t] / ((c - 1) P(u > t) + 1)``, and nearly that.

    H is at most every h with ``(c - 1) E[(u - h)_+] <= h``, and of two heights the one with the larger ratio is the
    ratio of the other: repeating that is Newton's way to H, from below.

    >>> round(float(1 / lean_by_caps(1024, 2.0) ** 2 - 1) / 1024, 4)
    1.6154
    """
    gain = exp_upper(epsilon) - 1
    height = Fraction(best_height(count, epsilon))
    step = Fraction(1, 1 << 50)
    while True:
        height = Fraction(float(height * (1 + step)))
        cap = cap_above(count, float(height))
        if gain * (cap.lean.upper - height * cap.share.lower) <= height:
            return height
        step *= 2


def lean_by_signed_sets(count: int, ratio: Fraction) -> Fraction:
    """The same squared where inputs are the 2d signed unit vectors, exactly: a set of k coordinates, each with a sign.

    The sum of k of these vectors is at most ``sqrt(min(k, d))`` long, and ``sqrt k`` where no two are opposite. So
    ``H^2`` is the greatest ``(c - 1)^2 k / (2 d + (c - 1) k)^2``, which grows until ``k = 2 d / (c - 1)`` and falls
    from there.

    >>> lean_by_signed_sets(1, Fraction(3)), lean_by_signed_sets(4, Fraction(3))
    (Fraction(1, 4), Fraction(1, 16))
    """
    return max(lean_of_signed_sets(count, size, ratio) for size in best_sizes(count, ratio))


def lean_of_signed_sets(count: int, size: int, ratio: Fraction) -> Fraction:
    """``H^2`` with sets of this size alone."""
    return (ratio - 1) ** 2 * size / (2 * count + (ratio - 1) * size) ** 2


def best_sizes(count: int, ratio: Fraction) -> tuple[int, int]:
    """The sizes on both sides of the best one, which need not be whole."""
    below = math.floor(2 * count / (ratio - 1))
    return min(max(below, 1), count), min(below + 1, count)


@lru_cache(maxsize=256)
def best_height(count: int, epsilon: float) -> float:
    """The height t of the cap with the largest ratio, which is that ratio, up to rounding.

    >>> round(best_height(3, 1.0), 6)  # where (c - 1) (1 - t)^2 / 4 = t
    0.244919
    """
    gain, height = exp_lower(epsilon) - 1, 0.0
    while True:
        cap = cap_above(count, height)
        higher = float(gain * cap.lean.lower / (gain * cap.share.upper + 1))
        if not higher > height * (1 + 2.0**-50):
            return height
        height = higher


@lru_cache(maxsize=256)
def _density(count: int) -> tuple[int, int]:
    """C, the density of u at 0: rational where the number of coordinates is odd, else over pi."""
    half = count // 2
    if count % 2:
        scale = half * math.comb(2 * half, half) << _BITS
        below = scale >> 2 * half
        return below, below + 1
    scale = 1 << 2 * (half - 1) + _BITS
    ways = math.comb(2 * half - 2, half - 1)
    low, high = pi_between()
    return math.floor(scale / (ways * high)), math.ceil(scale / (ways * low))


@lru_cache(maxsize=1)
def pi_between() -> Between:
    """Rationals around pi, by Machin's formula: the sums of alternating series lie between those of their first terms.

    >>> found = pi_between()
    >>> found.lower < Fraction(314159265358979323847, 10**20) and found.upper > Fraction(314159265358979323846, 10**20)
    True
    """
    fifth, other = _arctangent(5), _arctangent(239)
    return Between(16 * fifth.lower - 4 * other.upper, 16 * fifth.upper - 4 * other.lower)


def _arctangent(inverse: int) -> Between:
    total, place = Fraction(0), 0
    while True:
        term = Fraction(1, (2 * place + 1) * inverse ** (2 * place + 1))
        if place % 2 and term < Fraction(1, _ONE):
            return Between(total - term, total)
        total += term if place % 2 == 0 else -term
        place += 1


def _root_power(base: Fraction, exponent: int) -> tuple[int, int]:
    """The root of a power of a number in (0, 1]: the power has twice the bits."""
    bits = 2 * _BITS
    low, high = math.floor(base * (1 << bits)), math.ceil(base * (1 << bits))
    below = above = 1 << bits
    while exponent:
        if exponent & 1:
            below, above = below * low >> bits, -(-above * high >> bits)
        low, high = low * low >> bits, -(-high * high >> bits)
        exponent >>= 1
    return math.isqrt(below), math.isqrt(above) + 1


def _series(count: int, square: Fraction) -> tuple[int, int]:
    """``1 + d/3 t^2 + d/3 (d+2)/5 t^4 + ...``; what is left out is at most a geometric series."""
    low, high = math.floor(square * _ONE), math.ceil(square * _ONE)
    term_below = term_above = below = above = _ONE
    top, bottom = count, 3
    while term_above > _ONE >> 128 or top * high >= bottom << _BITS:
        term_below = term_below * top * low // bottom >> _BITS
        term_above = -(-(term_above * top * high) // (bottom << _BITS))
        below, above = below + term_below, above + term_above
        top, bottom = top + 2, bottom + 2
    ratio = max(Fraction(top, bottom), Fraction(1)) * square  # no later one is larger
    return below, above + math.ceil(term_above * ratio / (1 - ratio))
