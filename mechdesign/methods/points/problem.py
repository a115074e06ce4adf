"""What may be asked where inputs are finitely many numbers, such as the whole numbers 18 to 90.

`MinimaxProblem` and `PriorProblem` ask it when their inputs are a `Finite` domain.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.words.domains import Finite
from mechdesign.words.losses import Loss, Power
from mechdesign.words.priors import Atoms

Floats = NDArray[np.float64]

_MOST_POINTS = 1000  # losses between them are a matrix of a million entries, which is the most there may be


@runtime_checkable
class PointsProblem(Protocol):
    """A problem that can be about points: the worst case over them, or the average under weights on them."""

    @property
    def epsilon(self) -> float: ...
    @property
    def loss(self) -> Loss: ...
    @property
    def gap(self) -> float: ...
    @property
    def point_weights(self) -> Floats | None:
        """The prior's weight of every point; None asks for the worst case."""
        ...


def require_points_problem(inputs: Finite, loss: Loss) -> None:
    """A problem on points that can be solved and proven, or `InvalidInput`."""
    if loss not in (Power(1.0), Power(2.0)):
        step = "write the losses to a file and take --loss-matrix, md.Matrix(losses)"
        raise InvalidInput("loss", loss, "be absolute or squared on a finite domain", step)
    if not 2 <= len(inputs) <= _MOST_POINTS:
        step = "take the interval around them: --domain LO,HI, Interval(LO, HI)"
        raise InvalidInput("domain", str(inputs), f"have from 2 to {_MOST_POINTS} points", step)


def weights_on(inputs: Finite, prior: object) -> Floats:
    """The weight of every point under a prior that lives on some of them."""
    if not isinstance(prior, Atoms):
        step = "take weights on the points, priors.Atoms, or data"
        name = getattr(prior, "name", type(prior).__name__)
        raise InvalidInput("prior", name, "have its weights on points of a finite domain", step)
    weights = np.zeros(len(inputs))
    np.add.at(weights, inputs.index(prior.points, "prior points"), prior.weights)
    return weights
