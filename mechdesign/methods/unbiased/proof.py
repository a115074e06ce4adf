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
from mechdesign.methods.evidence import column, require_columns, require_mechanism, require_problem
from mechdesign.methods.unbiased.problem import UnbiasedProblem
from mechdesign.values.declare import array, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.criteria import Family, Scope

Floats = NDArray[np.float64]


@frozen
class UnbiasedPriorBound:
    """A quadratic for each of n equispaced inputs, ends included; ``offsets`` b and ``slopes`` s as if on [-1, 1].

    >>> from mechdesign.words.priors import Atoms
    >>> problem = UnbiasedProblem(1.0, Atoms([-1.0, 1.0], [0.5, 0.5]), size=3)
    >>> 0 < UnbiasedPriorBound([1.0, 0.0, -1.0], [1.5, 0.0, -1.5]).value(problem) < 3.7  # Duchi's mechanism has 3.68
    True
    """

    kind: ClassVar[str] = "unbiased prior"
    claimed: ClassVar[bool] = False

    offsets: Floats = array(column("offsets"))
    slopes: Floats = array(column("slopes"))

    def value(self, problem: UnbiasedProblem) -> Fraction:
        """The bound on [-1, 1], an exact rational. Weights are used as they are and divided by their exact sum."""
        require_columns(problem.weights.size, offsets=self.offsets, slopes=self.slopes)
        (weights, p), (offsets, b), (slopes, s) = map(dyadic, (problem.weights, self.offsets, self.slopes))
        intervals = len(weights) - 1
        level = Fraction(sum(x * y for x, y in zip(offsets, slopes, strict=True)), 1 << (b + s))
        # y is measured in units of 1 / (intervals 2^b), which makes inputs, roots and coefficients whole numbers
        quadratics = []
        for k, (weight, offset, slope) in enumerate(zip(weights, offsets, slopes, strict=True)):
            x = (2 * k - intervals) << b
            root, steep, rise = x + offset * intervals, weight << s, (slope * intervals) << (b + p)
            if steep or rise:
                quadratics.append(Quadratic(steep, rise - steep * x, root))
        least = least_phi_sum(quadratics, exp_upper(problem.epsilon)) / ((intervals << b) ** 2 << (p + s))
        return (level + min(Fraction(0), least)) / Fraction(sum(weights), 1 << p)

    def bound(self, problem: Any, mechanism: Any) -> float:
        asked = require_problem(problem, UnbiasedProblem)
        half = (Fraction(asked.inputs.upper) - Fraction(asked.inputs.lower)) / 2
        return max(0.0, float_down(self.value(asked) * half**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The average variance: unbiased for every real input by its definition, which its constructor checks."""
        asked = require_problem(problem, UnbiasedProblem)
        return float_up(average_variance(require_mechanism(mechanism, UnbiasedWindow, asked), asked.weights))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = require_problem(problem, UnbiasedProblem)
        return Scope(
            Family.UNBIASED,
            prior=f", under the prior rounded to {asked.weights.size} inputs" if asked.is_rounded else "",
        )


def average_variance(mechanism: UnbiasedWindow, weights: Floats) -> Fraction:
    """``sum p_x Var(Y|x) / sum p_x`` over equispaced inputs: each variance is exact, then rounded up to a double."""
    lower, upper = Fraction(mechanism.inputs.lower), Fraction(mechanism.inputs.upper)
    step = (upper - lower) / (len(weights) - 1)
    exact = [Fraction(weight) for weight in weights.tolist()]
    variances = (Fraction(float_up(mechanism.exact_variance(lower + k * step))) for k in range(len(exact)))
    return sum((p * v for p, v in zip(exact, variances, strict=True) if p), Fraction(0)) / sum(exact)
