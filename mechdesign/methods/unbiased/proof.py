"""A lower bound on the prior-weighted variance of *every* unbiased epsilon-LDP mechanism, in rational arithmetic.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. A mechanism is epsilon-LDP on finitely many inputs iff some base
measure mu satisfies ``mu(y) <= q(y|x) <= c mu(y)`` for all of them. Let ``t_x(y) = (y - x - b)(p (y - x) + s)`` be any
quadratic (or, for p = 0, line) with a root at ``x + b``. Since ``E[Y|x] = x``,

    ``p Var(Y|x) = b s + E[t_x(Y)|x] >= b s + sum_y mu(y) phi(t_x(y))``.

Summed over inputs with weights p, ``G(y) = sum_x phi(t_x(y))``, and because mu has mass at most 1,

    ``sum_x p_x Var(Y|x) >= sum_x b_x s_x + min(0, min over real y of G(y))``.

Nothing is assumed about the outputs. An input without weight may still bind, since reports must be unbiased there too:
its line says so. With two roots a < b' in place of ``(b, s)`` this is ``p (x - a)(b' - x)`` and ``p (y - a)(y - b')``;
the form used here stays accurate when p is tiny and one root far away.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.exact.phi import Quadratic, least_phi_sum
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.methods.grid_prior import average_variance, weights_on_grid
from mechdesign.methods.line import line_of
from mechdesign.methods.unbiased.supports import supports
from mechdesign.values.declare import array, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.criteria import Family, Scope

Floats = NDArray[np.float64]


@frozen
class UnbiasedPriorBound:
    """A quadratic for each of n equispaced inputs, ends included; ``offsets`` b and ``slopes`` s as if on [-1, 1].

    >>> bound = UnbiasedPriorBound([1.0, 0.0, -1.0], [1.5, 0.0, -1.5])
    >>> 0 < bound.value(1.0, np.array([0.5, 0.0, 0.5])) < 3.7  # Duchi's mechanism has 3.68
    True
    """

    kind: ClassVar[str] = "unbiased prior"
    claimed: ClassVar[bool] = False

    offsets: Floats = array(column("offsets"))
    slopes: Floats = array(column("slopes"))

    def value(self, epsilon: float, prior: Floats) -> Fraction:
        """The bound on [-1, 1], an exact rational. Weights are used as they are and divided by their exact sum."""
        require_columns(prior.size, offsets=self.offsets, slopes=self.slopes)
        (weights, p), (offsets, b), (slopes, s) = map(dyadic, (prior, self.offsets, self.slopes))
        intervals = len(weights) - 1
        level = Fraction(sum(x * y for x, y in zip(offsets, slopes, strict=True)), 1 << (b + s))
        # y is measured in units of 1 / (intervals 2^b), which makes inputs, roots and coefficients whole numbers
        quadratics = []
        for k, (weight, offset, slope) in enumerate(zip(weights, offsets, slopes, strict=True)):
            x = (2 * k - intervals) << b
            root, steep, rise = x + offset * intervals, weight << s, (slope * intervals) << (b + p)
            if steep or rise:
                quadratics.append(Quadratic(steep, rise - steep * x, root))
        least = least_phi_sum(quadratics, exp_upper(epsilon)) / ((intervals << b) ** 2 << (p + s))
        return (level + min(Fraction(0), least)) / Fraction(sum(weights), 1 << p)

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = line_of(problem, supports)
        half = (Fraction(asked.inputs.upper) - Fraction(asked.inputs.lower)) / 2
        return max(0.0, float_down(self.value(asked.epsilon, self._weights(problem)) * half**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The average variance: unbiased for every real input by its definition, which its constructor checks."""
        line_of(problem, supports)
        window = require_mechanism(mechanism, UnbiasedWindow, problem)
        return float_up(variance_under(window, self._weights(problem)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        line_of(problem, supports)
        return Scope(Family.UNBIASED)

    def _weights(self, problem: Any) -> Floats:
        return weights_on_grid(problem, self.offsets.size)


def variance_under(mechanism: UnbiasedWindow, weights: Floats) -> Fraction:
    """The average variance over equispaced inputs."""
    lower, upper = Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)
    step = (upper - lower) / (len(weights) - 1)
    return average_variance(lambda k: mechanism.exact_variance(lower + k * step), weights)
