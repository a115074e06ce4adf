"""The greatest of ``(x.z)^2 / (p.z) - nu.z`` over all rows z with entries between 1 and c: a sweep over one number.

Since ``s^2 / m = max over a of 2 a s - a^2 m``, that greatest value is ``max over a of sum_i max(t_i, c t_i)`` with
``t_i(a) = 2 a x_i - a^2 p_i - nu_i``: for each a the best entry is c where t_i is above 0, and 1 elsewhere. Between the
roots of all t_i the row does not change. Roots are enclosed between rationals; where one cannot be told from another,
the little that t_i can be inside its enclosure is added.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import chain
from math import isqrt
from typing import NamedTuple

_BITS = 96  # of the square roots behind the binary point


class _Change(NamedTuple):
    """What happens to the sums where a passes ``at``: the entries of one input gain ``(c - 1) sign`` times itself."""

    at: Fraction
    sign: int
    place: int
    slack: Fraction


def greatest_share(x: Sequence[int], p: Sequence[int], nu: Sequence[int], ratio: Fraction) -> Fraction:
    """A rational at least ``max over z in [1, c]^k of (x.z)^2 / (p.z) - nu.z``, for ``p >= 0`` that is not all 0.

    It is the maximum itself up to 2^-96 of the terms.

    >>> abs(float(greatest_share([1, -1], [1, 1], [0, 0], Fraction(3))) - 1.0) < 1e-20  # z = (3, 1): 2^2 / 4
    True
    """
    one, gain = ratio.denominator, ratio.numerator - ratio.denominator
    extra = Fraction(gain, one)
    alpha, beta, gamma = one * sum(p), one * sum(x), one * sum(nu)
    for k, (own_x, own_p, own_nu) in enumerate(zip(x, p, nu, strict=True)):
        if own_p == 0 and (own_x < 0 or (own_x == 0 and own_nu < 0)):  # above 0 far on the left
            beta, gamma = beta + gain * x[k], gamma + gain * own_nu
    slack = Fraction(0)
    greatest = Fraction(beta * beta, alpha * one) - Fraction(gamma, one)
    best_slack = slack
    changes = sorted(chain.from_iterable(map(_changes, range(len(x)), x, p, nu)))
    top_square, top_alpha, top_gamma = beta * beta, alpha, gamma
    for _, sign, k, more in changes:
        alpha, beta, gamma = (
            total + sign * gain * own for total, own in zip((alpha, beta, gamma), (p[k], x[k], nu[k]), strict=True)
        )
        slack += more
        # beta^2 / alpha - gamma against the best so far, in whole numbers
        left = (beta * beta - gamma * alpha) * top_alpha
        if slack or left > (top_square - top_gamma * top_alpha) * alpha:
            value = Fraction(beta * beta, alpha * one) - Fraction(gamma, one) + extra * slack
            if value > greatest + extra * best_slack:
                greatest, best_slack = value - extra * slack, slack
                top_square, top_alpha, top_gamma = beta * beta, alpha, gamma
    return greatest + extra * best_slack


def _changes(k: int, x: int, p: int, nu: int) -> list[_Change]:
    """Where ``2 a x - a^2 p - nu`` begins and ends to be above 0; an enclosure has two ends, and slack in between."""
    nothing = Fraction(0)
    if not p:
        return [_Change(Fraction(nu, 2 * x), 1 if x > 0 else -1, k, nothing)] if x else []
    square = x * x - p * nu
    if square <= 0:
        return []
    root, unit = isqrt(square << 2 * _BITS), 1 << _BITS
    inside = Fraction((square << 2 * _BITS) - root * root, p << 2 * _BITS)  # t at the inner ends of the enclosures
    centre = x << _BITS
    left, right = (Fraction(centre - root - 1, p * unit), Fraction(centre + root + 1, p * unit))
    inner_left, inner_right = (Fraction(centre - root, p * unit), Fraction(centre + root, p * unit))
    return [
        _Change(left, 0, k, inside),
        _Change(inner_left, 1, k, -inside),
        _Change(inner_right, -1, k, inside),
        _Change(right, 0, k, -inside),
    ]
