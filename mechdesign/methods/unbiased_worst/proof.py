"""A lower bound on the worst variance of *every* unbiased epsilon-LDP mechanism, in rational arithmetic.

A worst variance is at least any average of variances, and these are bounded as in `mechdesign.methods.unbiased.proof`:
with ``c = e^eps``, ``phi(t) = min(t, c t)``, weights p on inputs x, and quadratics with a root at ``x + b``,
``t_x(y) = (y - x - b)(p (y - x) + s)``, ``p Var(Y|x) = b s + E[t_x(Y)|x]`` because ``E[Y|x] = x``. A base measure
mu with ``mu <= q(.|x) <= c mu`` has a mass between 1/c and 1, so with ``G(y) = sum_x phi(t_x(y))``, g its least value

    ``(sum_x p_x) max_x Var(Y|x) >= sum_x b_x s_x + min(g, g/c)``.

Here the weights are part of the evidence. Nothing is assumed about the outputs.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.exact.phi import Quadratic, least_phi_sum
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.line import line_of
from mechdesign.methods.unbiased_worst.supports import supports
from mechdesign.values.declare import array, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.criteria import Family, Scope

Floats = NDArray[np.float64]


@frozen
class UnbiasedWorstBound:
    """A weight and a quadratic for each of several inputs, as if on [-1, 1]; each counts with its mirror image.

    >>> bound = UnbiasedWorstBound(inputs=[1.0], weights=[1.0], offsets=[7.5], slopes=[0.5])
    >>> round(float(bound.value(1.0)), 3)  # the optimum is 3.991
    3.612
    """

    kind: ClassVar[str] = "unbiased worst"
    claimed: ClassVar[bool] = False

    inputs: Floats = array(column("inputs"))
    weights: Floats = array(column("weights"))
    offsets: Floats = array(column("offsets"))
    slopes: Floats = array(column("slopes"))

    def __attrs_post_init__(self) -> None:
        for name in ("weights", "offsets", "slopes"):
            numbers = getattr(self, name)
            if numbers.size != self.inputs.size:
                raise InvalidInput(name, numbers.size, f"be one for each of the {self.inputs.size} inputs")
        if not (np.abs(self.inputs) <= 1).all():
            raise InvalidInput("inputs", float(np.abs(self.inputs).max()), "lie in [-1, 1]")
        if not ((self.weights >= 0).all() and self.weights.any()):
            raise InvalidInput("weights", float(self.weights.min(initial=0.0)), "be at least 0, and not all of them 0")

    def value(self, epsilon: float) -> Fraction:
        """The bound on [-1, 1], an exact rational."""
        columns = (self.inputs, self.weights, self.offsets, self.slopes)
        (inputs, x), (weights, p), (offsets, b), (slopes, s) = map(dyadic, columns)
        level = Fraction(2 * sum(one * other for one, other in zip(offsets, slopes, strict=True)), 1 << (b + s))
        # y is measured in units of 1 / 2^(x + b), which makes inputs, roots and coefficients whole numbers
        quadratics, ratio = [], exp_upper(epsilon)
        for place, weight, offset, slope in zip(inputs, weights, offsets, slopes, strict=True):
            at, steep, rise = place << b, weight << s, slope << (x + b + p)
            root = at + (offset << x)
            if steep or rise:
                quadratics.append(Quadratic(steep, rise - steep * at, root))
                quadratics.append(Quadratic(steep, steep * at - rise, -root))
        least = least_phi_sum(quadratics, ratio) / (1 << (2 * (x + b) + p + s))
        return (level + min(least, least / ratio)) / Fraction(2 * sum(weights), 1 << p)

    def bound(self, problem: Any, mechanism: Any) -> float:
        inputs = line_of(problem, supports).inputs
        half = (Fraction(inputs.upper) - Fraction(inputs.lower)) / 2
        return max(0.0, float_down(self.value(problem.epsilon) * half**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The largest variance at any real input: unbiased by its definition, which its constructor checks."""
        line_of(problem, supports)
        return float_up(require_mechanism(mechanism, UnbiasedWindow, problem).exact_worst_variance())

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        line_of(problem, supports)
        return Scope(Family.UNBIASED)
