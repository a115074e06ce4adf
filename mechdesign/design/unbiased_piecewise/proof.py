"""A lower bound on the worst-case variance of every unbiased piecewise mechanism, checked in rational arithmetic.

Inputs are [-1, 1]; outputs may be any interval. For the input 1 and any ``a <= 1 <= r``, unbiasedness gives

    ``Var(Y|1) = (1 - a)(r - 1) + E[(Y - a)(Y - r)] >= (1 - a)(r - 1) + b * integral of phi((y - a)(y - r))``

with ``phi(t) = min(t, c t)`` and b the base density; the input -1 is the mirror image. Averaging the two, the integrand
``g(y)`` is even, so the bound is ``(1 - a)(r - 1)`` wherever the integral of g from 0 to T is non-negative for every T.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

from mechdesign.design.evidence import IN_UNBIASED_CLASS
from mechdesign.design.piecewise.proof import exact_bias, exact_error
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict

_ROUNDING = 1e-12
_NEAR = 1e-13
_MOST_BIAS = 1e-6  # of the inputs' length: beyond it rounding is no excuse


@dataclass(frozen=True, slots=True)
class UnbiasedBound:
    """Window ``[start, stop]`` of the input 1 that bounds ``max Var(Y|x)`` on [-1, 1] from below."""

    kind: ClassVar[str] = "unbiased"

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

    def bound(self, mechanism: Mechanism | Product) -> float:
        if not isinstance(mechanism.inputs, Interval):
            raise CheckFailed("the evidence is about inputs on an interval")
        half = (Fraction(mechanism.inputs.upper) - Fraction(mechanism.inputs.lower)) / 2
        return float_down(self.value() * half**2)

    def attained(self, mechanism: Mechanism | Product) -> float:
        """The worst second moment about the input; biases beyond the spacing of the domain's doubles are refused.

        While the window moves freely, and while it stands still at an end of the outputs, the bias is linear in the
        input and the second moment a convex quadratic: the ends of these stretches decide for all inputs.
        """
        if not isinstance(mechanism, Piecewise) or not isinstance(mechanism.inputs, Interval):
            raise CheckFailed(f"the evidence is about piecewise mechanisms on an interval, not {mechanism.name}")
        inputs, outputs = mechanism.inputs, mechanism.outputs
        spacing = math.ulp(max(abs(outputs.lower), abs(outputs.upper)))
        allowed = min(16 * spacing + _ROUNDING * inputs.length, _MOST_BIAS * inputs.length)
        stretches = _stretches(mechanism)
        for x in stretches:
            bias = abs(exact_bias(mechanism, x))
            if bias > allowed:
                raise CheckFailed(f"the mechanism's bias at {float(x)!r} is {float(bias)!r}")
        return max(float_up(exact_error(mechanism, x, 2)) for x in stretches)

    def scope(self, mechanism: Mechanism | Product) -> str:
        return IN_UNBIASED_CLASS

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        if not isinstance(mechanism.inputs, Interval):
            raise CheckFailed("the evidence is about inputs on an interval")
        criterion, loss = Criterion(Aim.WORST_UNBIASED), "squared"
        fields = {
            "kind": "unbiased piecewise",
            "epsilon": self.epsilon,
            "loss": loss,
            "inputs": domain_to_dict(mechanism.inputs),
            "criterion": criterion.words,
        }
        return stated(problem, fields, criterion, loss, self.scope(mechanism))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": self.kind, "epsilon": self.epsilon, "start": self.start, "stop": self.stop}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        return cls(fields["epsilon"], fields["start"], fields["stop"])

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
