"""The exact likelihood ratio of a mechanism, as a number that can be compared without rounding."""

from __future__ import annotations

import math
from fractions import Fraction

from mechdesign.values.declare import frozen


@frozen
class LikelihoodRatio:
    """``sup q(y|x) / q(y|x')`` over inputs and outputs, written ``ratio * e^exponent`` with rational parts.

    Mechanisms given by numbers (heights, a table) have a rational ratio; mechanisms given by a rate (Laplace,
    staircase) have a rational exponent. ``ratio`` is None where the supremum is infinite.

    >>> LikelihoodRatio(Fraction(3), Fraction(0)).times(LikelihoodRatio(Fraction(1), Fraction(1, 2))).loss
    1.5986122886681098
    """

    ratio: Fraction | None
    exponent: Fraction = Fraction(0)

    @property
    def loss(self) -> float:
        """The privacy loss ``ln(ratio) + exponent``, to the nearest double."""
        if self.ratio is None:
            return math.inf
        return _log(self.ratio) + float(self.exponent)

    def times(self, other: LikelihoodRatio) -> LikelihoodRatio:
        """The ratio of two independent mechanisms run together (sequential composition)."""
        if self.ratio is None or other.ratio is None:
            return INFINITE
        return LikelihoodRatio(self.ratio * other.ratio, self.exponent + other.exponent)


INFINITE = LikelihoodRatio(None)


def _log(ratio: Fraction) -> float:
    # near 1 the logarithm of the rounded quotient would lose every digit of a small privacy loss
    if abs(ratio - 1) < Fraction(1, 2):
        return math.log1p(float(ratio - 1))
    # a ratio beyond the largest double is no reason to stop: its two integers have logarithms of their own
    return math.log(ratio) if ratio < 2**1000 else math.log(ratio.numerator) - math.log(ratio.denominator)
