"""A lower bound on the worst variance of several numbers of *every* unbiased epsilon-LDP mechanism, in rationals.

Inputs are corners ``b s`` of a box with half-lengths b, s uniform on the patterns of signs. The row of a report y is a
mixture of rows with values in ``{1, c}``, ``c = e^eps``, so that ``|E[s | y]| <= H``, the greatest lean of
`mechdesign.exact.sign_patterns`. An unbiased Y has ``sum_j E[Y_j s_j] = sum_j b_j``; by Cauchy and Schwarz
``(sum b_j)^2 = E[Y . E[s|Y]]^2 <= H^2 E|Y|^2``. The average of ``E|Y|^2 - |x|^2`` over the corners, and so the worst
variance, is at least

    ``(sum_j b_j)^2 / H^2 - sum_j b_j^2``.

The same holds for some of the numbers with the H of as many signs; those with the largest ranges are tried. H grows
with the number of signs. Nothing is assumed about outputs. Sign patterns attain ``(sum b_j)^2 / H^2`` where H is taken
at a pattern of some signs and no number would have to be drawn more than always.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import accumulate
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.sign_patterns import MOST_BY_SETS, lean_by_pairs, lean_by_sets, lean_by_squares, lean_by_tails
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import column
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.methods.sign_patterns.supports import halves_of
from mechdesign.values.declare import Floats, array, finite, frozen
from mechdesign.words.criteria import Family, Scope


@frozen
class SignPatternsBound:
    """Prices of pairs of patterns that differ in 1, 2, ... signs, where there are too many signs to try all sets.

    Without prices the bound follows from the problem alone: exactly for up to 7 numbers, and wide beyond.
    """

    kind: ClassVar[str] = "sign patterns"
    claimed: ClassVar[bool] = False

    prices: Floats = array(column("prices"), default=())
    slope: float = finite("slope", default=0.0)
    size: float = finite("size", default=0.0)

    def __attrs_post_init__(self) -> None:
        if (self.prices < 0).any():
            raise InvalidInput("prices", float(self.prices.min()), "be at least 0")
        if self.slope < 0:
            raise InvalidInput("slope", self.slope, "be at least 0")

    def lean(self, epsilon: float, count: int) -> Fraction:
        """At least H^2 for so many signs or fewer.

        >>> round(4**2 / float(SignPatternsBound().lean(2.0, 4)) - 4, 4)
        17.1528
        """
        ratio = exp_upper(epsilon)
        found = [lean_by_squares(ratio), lean_by_tails(epsilon)]
        if count <= MOST_BY_SETS:
            found.append(lean_by_sets(count, ratio))
        if self.prices.size >= count:
            prices = [Fraction(price) for price in self.prices.tolist()]
            found.append(lean_by_pairs(len(prices), ratio, prices, Fraction(self.slope), Fraction(self.size)))
        return min(found)

    def bound(self, problem: Any, mechanism: Any) -> float:
        halves = sorted(halves_of(problem), reverse=True)
        if self.prices.size not in (0, len(halves)):
            raise CheckFailed(f"the evidence is about {self.prices.size} numbers, not about {len(halves)}")
        whole = self.lean(problem.epsilon, len(halves))
        lengths, squares = accumulate(halves), accumulate(half**2 for half in halves)
        lower = Fraction(0)
        for count, (length, square) in enumerate(zip(lengths, squares, strict=True), 1):
            lean = min(whole, lean_by_sets(count, exp_upper(problem.epsilon))) if count <= MOST_BY_SETS else whole
            lower = max(lower, length**2 / lean - square)
        return float_down(lower)

    def attained(self, problem: Any, mechanism: Any) -> float:
        """``E|Y|^2``, which is the variance where all numbers are in the middle of their ranges."""
        halves = halves_of(problem)
        if not isinstance(mechanism, Discrete) or mechanism.epsilon != problem.epsilon:
            raise CheckFailed(f"the mechanism is no table of sign patterns with eps {problem.epsilon!r}")
        response, ratio = PatternResponse.of(mechanism)
        if response.drawn > len(halves):
            raise CheckFailed(f"{response.drawn} numbers cannot be drawn of {len(halves)}")
        return float_up(response.second_moment(ratio, halves))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        halves_of(problem)
        return Scope(Family.UNBIASED)
