"""A prior with a level for every input, and what it proves of the worst case of *all* epsilon-LDP mechanisms.

Write ``c = e^eps`` and ``phi(t) = min(t, c t)``. A mechanism is epsilon-LDP iff some base measure mu satisfies
``mu(y) <= q(y|x) <= c mu(y)`` for all x (take ``mu = min_x q``). For an input x and any level v

    ``E[loss(Y, x)] >= v + sum_y mu(y) phi(loss(y, x) - v)``,

so for atoms ``(x_j, r_j, w_j)`` with weights that sum to one, and ``G(y) = sum_j w_j phi(|y - x_j|^p - r_j^p)``,

    ``max_x E|Y - x|^p >= sum_j w_j r_j^p + min(g, g / c)``,   ``g = min over real y of G(y)``,

because mu has mass between 1/c and 1. Nothing is assumed about the outputs. The minimum of G is exact for p = 1 (linear
between the events ``x_j`` and ``x_j +- r_j``) and p = 2 (convex quadratics between ``x_j +- r_j``).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput
from mechdesign.exact.phi import Quadratic, least_phi_of_distances, least_phi_sum
from mechdesign.exact.rational import exp_upper
from mechdesign.values.declare import array, frozen
from mechdesign.values.dyadic import dyadic

Floats = NDArray[np.float64]


@frozen
class LevelledPrior:
    """Inputs, the radii whose losses are their levels, and weights; normalised, these are a least-favourable prior."""

    inputs: Floats = array()
    radii: Floats = array()
    weights: Floats = array()

    def __attrs_post_init__(self) -> None:
        columns = {"inputs": self.inputs, "radii": self.radii, "weights": self.weights}
        shapes = {column.shape for column in columns.values()}
        if len(shapes) != 1 or self.inputs.ndim != 1 or not self.inputs.size:
            rule = "be at least one, with an input, a radius and a weight"
            raise InvalidInput("atoms", sorted(map(str, shapes)), rule)
        for name, column in columns.items():
            if not np.isfinite(column).all() or (name != "inputs" and (column < 0).any()):
                raise InvalidInput(f"atom {name}", float(column.min()), "be finite and, but for inputs, at least 0")
        if not self.weights.sum() > 0:
            raise InvalidInput("atom weights", float(self.weights.sum()), "have a positive sum")

    def least_worst_case(self, epsilon: float, exponent: int) -> Fraction:
        """The bound, an exact rational in the numbers stored here: for every epsilon-LDP mechanism with any outputs.

        >>> ends = LevelledPrior([0.0, 1.0], [0.4434, 0.4434], [0.5, 0.5])
        >>> 0.19 < ends.least_worst_case(1.0, 2) < 0.19661194
        True
        """
        places, shift = dyadic(np.concatenate([self.inputs, self.radii]))
        count = self.inputs.size
        weights, _ = dyadic(self.weights)
        atoms = [atom for atom in zip(places[:count], places[count:], weights, strict=True) if atom[2]]
        level: int = sum(w * r**exponent for _, r, w in atoms)
        ratio = exp_upper(epsilon)
        if exponent == 1:
            least = least_phi_of_distances(atoms, ratio)
        else:
            least = least_phi_sum([Quadratic(w, -w * (x + r), x - r) for x, r, w in atoms], ratio)
        return (level + min(least, least / ratio)) / (sum(weights) << (exponent * shift))
