"""Bounds for the distance on finitely many numbers, such as whole numbers, with the same numbers as outputs.

`mechdesign.exact.matrix` bounds the expected loss for a matrix of doubles. Here the losses are ``|x - y|^p`` of
the points, p = 1 or 2: the lower bound is taken with every loss rounded down, the mechanism's error with every loss
rounded up, so both hold for the exact losses.

**Outputs.** For p = 1 the bound holds for all mechanisms with outputs on the line: an output between two neighbouring
points a < b may be moved to b with probability (y - a)/(b - a) and to a otherwise. As |x - y| is linear between a and b
for every point x, no expected loss changes, and no ratio grows. An output outside the points is nearer to all of them
at the end point. For p = 2 outputs between the points can be better, and the bound is for these outputs only.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.matrix import matrix_bound, matrix_error
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import column
from mechdesign.methods.points.problem import PointsProblem
from mechdesign.values.declare import array, frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.domains import Finite
from mechdesign.words.losses import Power

Floats = NDArray[np.float64]


@frozen
class PointsBound:
    """Levels and weights, one a point, that bound the worst case; for the average under a prior the weights are 0."""

    kind: ClassVar[str] = "points"
    claimed: ClassVar[bool] = False

    levels: Floats = array(column("levels"))
    weights: Floats = array(column("weights"))

    def bound(self, problem: Any, mechanism: Any) -> float:
        inputs, exponent, prior = _asked(problem)
        _by_number(mechanism, problem.epsilon, inputs)
        losses = distances(inputs.points, exponent, float_down)
        return float_down(matrix_bound(problem.epsilon, losses, self.levels, self.weights, prior))

    def attained(self, problem: Any, mechanism: Any) -> float:
        inputs, exponent, prior = _asked(problem)
        losses = distances(inputs.points, exponent, float_up)
        return float_up(matrix_error(_by_number(mechanism, problem.epsilon, inputs), losses, prior))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(Family.ALL if _asked(problem)[1] == 1 else Family.ON_OUTPUTS)


def _asked(problem: Any) -> tuple[Finite, int, Floats | None]:
    """Points, exponent and prior of the problem."""
    inputs = getattr(problem, "inputs", None)
    if not (isinstance(problem, PointsProblem) and isinstance(inputs, Finite) and isinstance(problem.loss, Power)):
        raise CheckFailed("the evidence is about inputs that are finitely many numbers")
    return inputs, int(problem.loss.exponent), problem.point_weights


def _by_number(mechanism: Any, epsilon: float, inputs: Finite) -> Discrete:
    """The same law, with numbers of points in place of the points."""
    places = {point: i for i, point in enumerate(inputs.points)}
    if (
        not isinstance(mechanism, Discrete)
        or mechanism.epsilon != epsilon
        or mechanism.inputs != inputs
        or not set(mechanism.outputs.points) <= set(places)
    ):
        raise CheckFailed(f"the evidence is about mechanisms from and to {inputs} with eps {epsilon!r}")
    outputs = Finite(tuple(places[point] for point in mechanism.outputs.points))
    return Discrete(epsilon, Finite(tuple(range(len(places)))), outputs, mechanism.probabilities, mechanism.name)


def distances(points: tuple[float, ...], exponent: int, rounded: Callable[[Fraction], float] = float) -> Floats:
    """``|x - y|^exponent`` from every point to every point, each exact value rounded once."""
    exact = [Fraction(point) for point in points]
    return np.array([[rounded(abs(x - y) ** exponent) for y in exact] for x in exact])
