"""Bounds for the distance on finitely many numbers, such as whole numbers, with the same numbers as outputs.

`mechdesign.design.finite.proof` bounds the expected loss for a matrix of doubles. Here the losses are ``|x - y|^p`` of
the points, p = 1 or 2: the lower bound is taken with every loss rounded down, the mechanism's error with every loss
rounded up, so both hold for the exact losses.

**Outputs.** For p = 1 the bound holds for all mechanisms with outputs on the line: an output between two neighbouring
points a < b may be moved to b with probability (y - a)/(b - a) and to a otherwise. As |x - y| is linear between a and b
for every point x, no expected loss changes, and no ratio grows. An output outside the points is nearer to all of them
at the end point. For p = 2 outputs between the points can be better, and the bound is for these outputs only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.evidence import EVERYWHERE
from mechdesign.design.finite.proof import EVERYWHERE_ON_OUTPUTS, FiniteBound
from mechdesign.domains import Finite
from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.statement import Aim, Criterion, Statement, stated
from mechdesign.losses import Power
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.serialise import domain_to_dict

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class PointsBound:
    """Levels and weights that bound the worst case over ``points``, or the average under a ``prior`` on them.

    >>> coin = PointsBound(1.0, 1, np.array([18.0, 19.0]), np.array([0.2689] * 2), np.array([0.5, 0.5]))
    >>> round(float(coin.value()), 4)  # randomised response is optimal: 1 / (1 + e)
    0.2689
    """

    kind: ClassVar[str] = "points"

    epsilon: float
    exponent: int
    points: Floats
    levels: Floats
    weights: Floats
    prior: Floats | None = None

    def __post_init__(self) -> None:
        if type(self.exponent) is not int or self.exponent not in (1, 2):
            raise InvalidInput("exponent", self.exponent, "be 1 or 2")
        points = np.array(Finite(tuple(np.asarray(self.points).tolist())).points)
        points.setflags(write=False)
        object.__setattr__(self, "points", points)
        checked = self._matrix(float_down)
        for name in ("epsilon", "levels", "weights", "prior"):
            object.__setattr__(self, name, getattr(checked, name))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PointsBound) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash((self.epsilon, self.exponent, self.points.tobytes(), self.levels.tobytes()))

    def _matrix(self, rounded: Callable[[Fraction], float]) -> FiniteBound:
        losses = distances(self.points.tolist(), self.exponent, rounded)
        return FiniteBound(self.epsilon, losses, self.levels, self.weights, self.prior)

    def value(self) -> Fraction:
        """The bound, an exact rational."""
        return self._matrix(float_down).value()

    def bound(self, mechanism: Mechanism | Product) -> float:
        return self._matrix(float_down).bound(self._by_number(mechanism))

    def attained(self, mechanism: Mechanism | Product) -> float:
        return self._matrix(float_up).attained(self._by_number(mechanism))

    def _by_number(self, mechanism: Mechanism | Product) -> Discrete:
        """The same law, with numbers of points in place of the points."""
        places = {point: i for i, point in enumerate(self.points.tolist())}
        if (
            not isinstance(mechanism, Discrete)
            or mechanism.inputs.points != tuple(places)
            or not set(mechanism.outputs.points) <= set(places)
        ):
            raise CheckFailed(f"the evidence is about mechanisms from and to {Finite(tuple(places))}")
        outputs = Finite(tuple(places[point] for point in mechanism.outputs.points))
        inputs = Finite(tuple(range(len(places))))
        return Discrete(mechanism.epsilon, inputs, outputs, mechanism.probabilities, mechanism.name)

    def scope(self, mechanism: Mechanism | Product) -> str:
        return EVERYWHERE if self.exponent == 1 else EVERYWHERE_ON_OUTPUTS

    def statement(self, problem: Mapping[str, Any], mechanism: Mechanism | Product) -> Statement:
        criterion, loss = Criterion(Aim.WORST if self.prior is None else Aim.AVERAGE), Power(float(self.exponent)).name
        fields: dict[str, Any] = {
            "kind": "minimax" if self.prior is None else "prior",
            "epsilon": self.epsilon,
            "loss": loss,
            "criterion": criterion.words,
            "inputs": domain_to_dict(Finite(tuple(self.points.tolist()))),
        }
        if self.prior is not None:
            fields["prior"] = {"name": "weights", "weights": self.prior.tolist()}
        words = None if self.prior is None else "the weights in the file"
        return stated(problem, fields, criterion, loss, self.scope(mechanism), words)

    def to_dict(self) -> dict[str, Any]:
        arrays = {"points": self.points, "levels": self.levels, "weights": self.weights}
        said: dict[str, Any] = {"kind": self.kind, "epsilon": self.epsilon, "exponent": self.exponent}
        said |= {name: array.tolist() for name, array in arrays.items()}
        return said | {"prior": None if self.prior is None else self.prior.tolist()}

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Self:
        names = ("epsilon", "exponent", "points", "levels", "weights", "prior")
        return cls(**{name: fields[name] for name in names})


def distances(points: list[float], exponent: int, rounded: Callable[[Fraction], float] = float) -> Floats:
    """``|x - y|^exponent`` from every point to every point, each exact value rounded once."""
    exact = [Fraction(point) for point in points]
    return np.array([[rounded(abs(x - y) ** exponent) for y in exact] for x in exact])
