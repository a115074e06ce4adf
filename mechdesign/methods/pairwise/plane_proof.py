"""What proves the least expected loss where reports may be any place of the plane: flows at corners of rectangles.

`mechdesign.exact.tiling` says why no mechanism loses less than the best on the corners, counted there with tangents;
`mechdesign.exact.flows` what that one loses at least.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.rational import float_down
from mechdesign.exact.tiling import corner_losses, tiles
from mechdesign.methods.evidence import column
from mechdesign.methods.pairwise.proof import attained_by, bound_of_flows
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.values.declare import array, frozen
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

MOST_LOSSES = 16_000_000
"""Of rectangles, corners and inputs: a proof with more would not fit where designs are read."""


@frozen
class PlaneBound:
    """Rectangles that cover the plane's part that counts, flows for each of their corners, weights for the worst case.

    ``axes`` and ``cuts`` are those of `mechdesign.exact.tiling.tiles`; ``outputs`` are numbers of corners in increasing
    order of their places. The rest is as in `PairsBound`.

    >>> from mechdesign.words.criteria import Average
    >>> places = Metric([(0, 0), (2, 0)], 1.0)
    >>> problem = Problem(loss=Distances(), privacy=places, criterion=Average(), among=InPlane())
    >>> bound = PlaneBound([], [2], [], [0, 1], [0, 1], [1, 0], [0.1192029, 0.1192029])
    >>> round(float(bound.value(problem)), 6)  # randomised response, 2 / (1 + e^2)
    0.238406
    """

    kind: ClassVar[str] = "plane"
    claimed: ClassVar[bool] = False

    weights: Floats = array(column("weights"))
    axes: Floats = array(column("axes"))
    cuts: Floats = array(column("cuts"))
    outputs: Floats = array(column("outputs"))
    firsts: Floats = array(column("firsts"))
    seconds: Floats = array(column("seconds"))
    amounts: Floats = array(column("amounts"))

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly: valid for every mechanism that keeps the pairs, whatever it reports."""
        privacy, loss = pairs_of(problem), problem.loss
        if not (isinstance(privacy, Metric) and isinstance(loss, Distances) and isinstance(problem.among, InPlane)):
            raise CheckFailed("rectangles prove something only where reports may be any place of the plane")
        if 4 * self.axes.size * len(privacy) > MOST_LOSSES:
            raise CheckFailed(f"rectangles and inputs must be at most {MOST_LOSSES // 4} together")
        down = corner_losses(privacy.points, tiles(privacy.points, self.axes, self.cuts), loss.exponent)
        columns = self.outputs, self.firsts, self.seconds, self.amounts
        return bound_of_flows(problem, down, self.weights, columns)

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(0.0, float_down(self.value(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, problem)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        pairs_of(problem)
        return Scope(Family.ALL)
