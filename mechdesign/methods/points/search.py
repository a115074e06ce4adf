"""The certified optimum where inputs are finitely many numbers, such as the whole numbers 18 to 90.

**Program.** That of a loss matrix (`mechdesign.methods.finite.search`) with the distances between the points: outputs
are the points themselves, so reports are data of the same kind. **Proof.** `mechdesign.methods.points.proof`: for the
absolute error no other outputs are better.
"""

from __future__ import annotations

from typing import Any

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.finite.proof import FiniteBound
from mechdesign.methods.finite.search import answer
from mechdesign.methods.method import Demands
from mechdesign.methods.points.proof import PointsBound, distances
from mechdesign.methods.result import Design
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.criteria import Average, Worst
from mechdesign.words.domains import Finite
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem


def optimal_on_points(problem: Any, clock: Clock) -> Design:
    """The optimum of a `PointsProblem` whose inputs are points."""
    inputs, loss, weights = problem.inputs, problem.loss, problem.point_weights
    assert isinstance(inputs, Finite)
    assert isinstance(loss, Power)
    losses = distances(inputs.points, int(loss.exponent))
    criterion = Worst() if weights is None else Average(weights)
    matrix = Problem(loss=Matrix(losses), privacy=Pure(problem.epsilon), criterion=criterion)
    found = answer(matrix, Demands(problem.gap, clock.left()))
    table, bound = found.mechanism, found.evidence
    assert isinstance(table, Discrete)
    assert isinstance(bound, FiniteBound)
    outputs = Finite(tuple(inputs.points[int(place)] for place in table.outputs.points))
    mechanism = Discrete(problem.epsilon, inputs, outputs, table.probabilities, "finite optimum")
    report = evolved(found.report, seconds=clock.used)
    return Design(problem, mechanism, PointsBound(bound.levels, bound.weights), report)
