"""A lower bound on the worst variance of a vector for *every* unbiased epsilon-LDP mechanism, and what directions have.

Inputs x of length 1 are uniform on the sphere, or on the signed unit vectors. As for several numbers
(`mechdesign.methods.sign_patterns.proof`) the row of a report y is a mixture of rows with values in ``{1, c}``, so that
``|E[x | y]| <= H``, and ``1 = E[Y . x]^2 = E[Y . E[x|Y]]^2 <= H^2 E|Y|^2`` by Cauchy and Schwarz: on average over these
x, and so for the worst, the variance is at least ``1/H^2 - 1``. H is the greatest lean of a set T with the density c:
of a cap of the sphere, or of a set of unit vectors without opposites (`mechdesign.exact.caps`).

A direction from such a T around one's own corner, made without bias, has ``E|Y|^2 = 1/H^2`` for every x. On the sphere
it is the optimum; in the ball and the cross-polytope, which have x = 0, the optimum is known to the square of the
radius. A radius scales all.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed
from mechdesign.exact.caps import cap_above, lean_by_caps, lean_by_signed_sets, lean_of_signed_sets
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.directions import DirectionResponse, SignedSets
from mechdesign.methods.ball.supports import vectors_of
from mechdesign.methods.evidence import require_mechanism
from mechdesign.values.declare import frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.vectors import CrossPolytope, Sphere


@frozen
class DirectionBound:
    """The bound of the greatest lean: it follows from the problem alone."""

    kind: ClassVar[str] = "directions"
    claimed: ClassVar[bool] = False

    def bound(self, problem: Any, mechanism: Any) -> float:
        inputs = vectors_of(problem)
        if isinstance(inputs, CrossPolytope):
            square = lean_by_signed_sets(inputs.count, exp_upper(problem.epsilon))
        else:
            square = lean_by_caps(inputs.count, problem.epsilon) ** 2
        return float_down(Fraction(inputs.radius) ** 2 * (1 / square - 1))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """``E|Y|^2``, and on the sphere the square of its radius less."""
        inputs = vectors_of(problem)
        law = require_mechanism(mechanism, DirectionResponse, problem)
        least = 1 if isinstance(inputs, Sphere) else 0
        return float_up(Fraction(inputs.radius) ** 2 * (1 / _square_lean(law) - least))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        vectors_of(problem)
        return Scope(Family.UNBIASED)


def _square_lean(law: DirectionResponse) -> Fraction:
    """At most the square of the lean of the mechanism's reports."""
    ratio, count = Fraction(law.ratio), law.inputs.count
    if isinstance(law.reports, SignedSets):
        return lean_of_signed_sets(count, law.reports.size, ratio)
    cap = cap_above(count, law.reports.height)
    if cap.lean.lower <= 0:
        raise CheckFailed("the cap is so small that nothing is proven of it")
    return ((ratio - 1) * cap.lean.lower / ((ratio - 1) * cap.share.upper + 1)) ** 2
