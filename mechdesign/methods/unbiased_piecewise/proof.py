"""A lower bound on the worst-case variance of every unbiased piecewise mechanism, checked in rational arithmetic.

Inputs are [-1, 1]; outputs may be any interval. For the input 1 and any ``a <= 1 <= r``, unbiasedness gives

    ``Var(Y|1) = (1 - a)(r - 1) + E[(Y - a)(Y - r)] >= (1 - a)(r - 1) + b * integral of phi((y - a)(y - r))``

with ``phi(t) = min(t, c t)`` and b the base density; the input -1 is the mirror image. Averaging the two, the integrand
``g(y)`` is even, so the bound is ``(1 - a)(r - 1)`` wherever the integral of g from 0 to T is non-negative for every T.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.piecewise import exact_bias, exact_error
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.methods.evidence import require_mechanism
from mechdesign.methods.unbiased_piecewise.supports import inputs_of
from mechdesign.values.declare import finite, frozen
from mechdesign.words.criteria import Family, Scope

_ROUNDING = 1e-12
_NEAR = 1e-13
_MOST_BIAS = 1e-6  # of the inputs' length: beyond it rounding is no excuse


@frozen
class UnbiasedBound:
    """Window ``[start, stop]`` of the input 1 that bounds ``max Var(Y|x)`` on [-1, 1] from below."""

    kind: ClassVar[str] = "unbiased"
    claimed: ClassVar[bool] = False

    start: float = finite("start")
    stop: float = finite("stop")

    def __attrs_post_init__(self) -> None:
        if not 0 <= self.start <= 1 <= self.stop:
            raise InvalidInput("window", (self.start, self.stop), "satisfy 0 <= start <= 1 <= stop")

    def value(self, epsilon: float) -> Fraction:
        """The bound, an exact rational, valid for every unbiased piecewise mechanism on [-1, 1]."""
        a, r = Fraction(self.start), Fraction(self.stop)
        # outputs must reach past -1 and 1, so the base density is at most 1/2 and the two halves lose at most this
        shortfall = min(Fraction(0), self._least_integral(a, r, exp_upper(epsilon)))
        return (1 - a) * (r - 1) + shortfall

    def bound(self, problem: Any, mechanism: Any) -> float:
        inputs = inputs_of(problem)
        half = (Fraction(inputs.upper) - Fraction(inputs.lower)) / 2
        return float_down(self.value(problem.epsilon) * half**2)

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The worst second moment about the input; biases beyond the spacing of the domain's doubles are refused.

        While the window moves freely, and while it stands still at an end of the outputs, the bias is linear in the
        input and the second moment a convex quadratic: the ends of these stretches decide for all inputs.
        """
        inputs = inputs_of(problem)
        piecewise = require_mechanism(mechanism, Piecewise, problem)
        outputs = piecewise.outputs
        spacing = math.ulp(max(abs(outputs.lower), abs(outputs.upper)))
        allowed = min(16 * spacing + _ROUNDING * inputs.length, _MOST_BIAS * inputs.length)
        stretches = _stretches(piecewise)
        for x in stretches:
            bias = abs(exact_bias(piecewise, x))
            if bias > allowed:
                raise CheckFailed(f"the mechanism's bias at {float(x)!r} is {float(bias)!r}")
        return max(float_up(exact_error(piecewise, x, 2)) for x in stretches)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(Family.UNBIASED_PIECEWISE)

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
        low, high, halvings = vertex, r, 200
        near = _larger_root(float(ratio), float(a), float(r))
        first, last = Fraction(near * (1 - _NEAR)), Fraction(near * (1 + _NEAR))
        if vertex < first and last < r and slope(first) < 0 <= slope(last):  # what doubles know saves most of the work
            low, high, halvings = first, last, 40
        for _ in range(halvings):
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


def _larger_root(ratio: float, a: float, r: float) -> float:
    """Where ``(c+1) (y^2 + a r) = (c-1) (a+r) y``, about; any number will do."""
    half = (ratio - 1) * (a + r) / (2 * (ratio + 1))
    return half + math.sqrt(max(half * half - a * r, 0.0))


def _stretches(mechanism: Piecewise) -> list[Fraction]:
    """The ends of the inputs, and those between them at which the window meets an end of the outputs."""
    window, width = mechanism.window, mechanism.exact_width()
    if not isinstance(window, AffineWindow):
        raise CheckFailed("the evidence is about affine windows")
    lower, upper = Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)
    pivot = Fraction(window.pivot)
    at_pivot = pivot + Fraction(window.offset)
    first, last = Fraction(mechanism.outputs.lower) + width / 2, Fraction(mechanism.outputs.upper) - width / 2
    meets = (pivot + (centre - at_pivot) / Fraction(window.slope) for centre in (first, last))
    return [lower, *(x for x in meets if lower < x < upper), upper]
