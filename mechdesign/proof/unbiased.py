"""A lower bound on the worst-case variance of every unbiased piecewise mechanism, checked in rational arithmetic.

Inputs are [-1, 1]; outputs may be any interval. For the input 1 and any ``a <= 1 <= r``, unbiasedness gives

    ``Var(Y|1) = (1 - a)(r - 1) + E[(Y - a)(Y - r)] >= (1 - a)(r - 1) + b * integral of phi((y - a)(y - r))``

with ``phi(t) = min(t, c t)`` and b the base density; the input -1 is the mirror image. Averaging the two, the integrand
``g(y)`` is even, so the bound is ``(1 - a)(r - 1)`` wherever the integral of g from 0 to T is non-negative for every T.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from mechdesign.errors import InvalidInput, require_epsilon, require_finite
from mechdesign.proof.rational import exp_upper


@dataclass(frozen=True, slots=True)
class UnbiasedBound:
    """Window ``[start, stop]`` of the input 1 that bounds ``max Var(Y|x)`` on [-1, 1] from below."""

    epsilon: float
    start: float
    stop: float

    def __post_init__(self) -> None:
        require_epsilon(self.epsilon)
        if not 0 <= require_finite(self.start, "start") <= 1 <= require_finite(self.stop, "stop"):
            raise InvalidInput("window", (self.start, self.stop), "satisfy 0 <= start <= 1 <= stop")

    def value(self) -> Fraction:
        """The bound, an exact rational, valid for every unbiased piecewise mechanism on [-1, 1]."""
        a, r = Fraction(self.start), Fraction(self.stop)
        # outputs must reach past -1 and 1, so the base density is at most 1/2 and the two halves lose at most this
        shortfall = min(Fraction(0), self._least_integral(a, r, exp_upper(self.epsilon)))
        return (1 - a) * (r - 1) + shortfall

    def _least_integral(self, a: Fraction, r: Fraction, ratio: Fraction) -> Fraction:
        """A lower bound of ``min over T of the integral of g from 0 to T``.

        g is positive before a and after r. Between, it is the convex quadratic
        ``((c+1) y^2 - (c-1)(a+r) y + (c+1) a r) / 2``: its integral is smallest at its larger root, or at a.
        """

        def slope(y: Fraction) -> Fraction:
            return ((ratio + 1) * (y * y + a * r) - (ratio - 1) * (a + r) * y) / 2

        def integral(y: Fraction) -> Fraction:
            inner = (ratio + 1) * ((y**3 - a**3) / 3 + a * r * (y - a)) - (ratio - 1) * (a + r) * (y**2 - a**2) / 2
            return (a**3 / 3 + a * r * a) + inner / 2

        vertex = (ratio - 1) * (a + r) / (2 * (ratio + 1))
        if slope(vertex) >= 0 or not a < vertex < r:
            return Fraction(0)  # g is monotone between a and r and non-negative at both
        low, high = vertex, r
        for _ in range(200):
            middle = (low + high) / 2
            middle = Fraction(int(middle * 2**220), 2**220)
            if not low < middle < high:
                break
            if slope(middle) < 0:
                low = middle
            else:
                high = middle
        # beyond the vertex the integral is convex: it lies above its tangent at ``low``
        return min(Fraction(0), integral(low) + slope(low) * (high - low))
