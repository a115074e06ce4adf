"""What proves the least loss of (epsilon, delta)-LDP tables: a price for what a row has above another, by weak duality.

For weights w of the inputs that sum to one and prices ``p[x, x', y] >= 0``, every table q that is (epsilon, delta)-LDP
has ``sum_y max(0, q(y|x) - c q(y|x')) <= delta``, ``c = e^epsilon``, and therefore
``sum_y p[x, x', y] (q(y|x) - c q(y|x')) <= delta max_y p[x, x', y]``. Its worst case, and its average where w is the
prior, is at least ``sum_x w_x sum_y q(y|x) loss[x, y]``, so at least

    ``sum_x min_y (w_x loss[x, y] + sum_x' p[x, x', y] - c sum_x' p[x', x, y]) - delta sum_xx' max_y p[x, x', y]``.

``c`` enters rounded up, which only adds tables.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.matrix import matrix_error
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.approximate.supports import asked_of
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.values.declare import Floats, array, field, frozen
from mechdesign.words.criteria import Family, Scope
from mechdesign.words.problem import Problem


def _places(said: Any) -> tuple[tuple[int, int, int], ...]:
    """Numbers of two inputs and an output, each triple once."""
    found = tuple(tuple(entry) for entry in said)
    if any(len(entry) != 3 or any(type(part) is not int or part < 0 for part in entry) for entry in found):
        raise InvalidInput("places", said, "be triples of whole numbers: an input, another one, and an output")
    if len(set(found)) < len(found):
        raise InvalidInput("places", "a triple that stands there twice", "name every triple once")
    return found


@frozen
class HockeyBound:
    """Weights of the inputs, and the prices that are not 0: ``prices[k]`` stands at ``places[k] = (x, x', y)``.

    For an average the weights are the prior's, and those here are 0.

    >>> from mechdesign.words.privacy import Approximate
    >>> problem = Problem(loss=[[0.0, 1.0], [1.0, 0.0]], privacy=Approximate(1.0, 0.1))
    >>> bound = HockeyBound([0.5, 0.5], [(0, 1, 0), (1, 0, 1)], [0.1344707, 0.1344707])
    >>> round(float(bound.value(problem)), 5)  # (1 - delta) / (1 + e)
    0.24205
    """

    kind: ClassVar[str] = "hockey-stick prices"
    claimed: ClassVar[bool] = False

    weights: Floats = array(column("weights"))
    places: tuple[tuple[int, int, int], ...] = field(converter=_places)
    prices: Floats = array(column("prices"))

    def __attrs_post_init__(self) -> None:
        if len(self.places) != self.prices.size or not (self.prices >= 0).all():
            raise InvalidInput("prices", self.prices.shape, "be a number of at least 0 for each place")
        if not (self.weights >= 0).all():
            raise InvalidInput("weights", float(self.weights.min()), "be at least 0")

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly: valid for every (epsilon, delta)-LDP mechanism with these outputs."""
        losses, privacy = asked_of(problem)
        inputs, outputs = losses.shape
        require_columns(inputs, weights=self.weights)
        if any(max(x, other) >= inputs or y >= outputs or x == other for x, other, y in self.places):
            raise CheckFailed("the evidence is about other inputs or outputs")
        if problem.weights is not None and self.weights.any():
            raise CheckFailed("the evidence has weights of its own, and an average those of its prior")
        weights = [Fraction(weight) for weight in (self.weights if problem.weights is None else problem.weights)]
        if not (total := sum(weights)):
            raise CheckFailed("the weights of the evidence are all 0")
        ratio = exp_upper(privacy.epsilon)
        costs = [[weight / total * Fraction(loss) for loss in row] for weight, row in zip(weights, losses, strict=True)]
        most: dict[tuple[int, int], Fraction] = {}
        for (x, other, y), said in zip(self.places, self.prices.tolist(), strict=True):
            price = Fraction(said)
            costs[x][y] += price
            costs[other][y] -= ratio * price
            most[x, other] = max(most.get((x, other), price), price)
        return sum((min(row) for row in costs), Fraction(0)) - Fraction(privacy.delta) * sum(most.values())

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(float_down(self.value(problem)), 0.0)

    def attained(self, problem: Any, mechanism: Any) -> float:
        losses, _ = asked_of(problem)
        table = require_mechanism(mechanism, Discrete, problem)
        if not set(table.outputs.points) <= set(problem.table.outputs.points):
            raise CheckFailed(f"{table.name} has outputs that are no columns of the loss matrix")
        return float_up(matrix_error(table, losses, problem.weights))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked_of(problem)
        return Scope(Family.ON_OUTPUTS)


def sparse_prices(weights: Floats, prices: Floats) -> HockeyBound:
    """The evidence of a price for each pair and output, ``prices[x, x', y]``."""
    found = np.argwhere(prices > 0)
    return HockeyBound(weights, tuple((x, other, y) for x, other, y in found.tolist()), prices[tuple(found.T)])
