"""What proves the least expected loss where every pair has its own epsilon: flows on pairs, evaluated in rationals.

The inequality is that of `mechdesign.exact.flows`, for losses rounded down and epsilons rounded up: it holds for all
mechanisms that keep the pairs with outputs among the problem's.

**More outputs.** Reports on a line at distance ``|x - y|``: an output between neighbouring places a < b may be moved to
b with probability ``(y - a)/(b - a)`` and to a otherwise. The loss is linear between them for every input: no expected
loss changes, and no ratio grows. One outside is moved to the end.
In the plane outputs are no more than the places they are; `mechdesign.methods.pairwise.plane_proof` bounds all of it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.flows import flow_bound
from mechdesign.exact.matrix import exact_sum
from mechdesign.exact.rational import float_down
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.values.declare import array, frozen
from mechdesign.words.classes import All
from mechdesign.words.criteria import Average, Family, Lexicographic, Scope
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_OUTWARD = 2.0**-50  # a product, a sum that is rounded once and a quotient: three roundings of 2^-53


@frozen
class PairsBound:
    """Flows on pairs of inputs for each output, and for the worst case weights of the inputs.

    Flow k goes from input ``firsts[k]`` to ``seconds[k]`` for output ``outputs[k]``.

    >>> problem = Problem(loss=[[0, 1], [1, 0]], privacy=Metric([0, 1], 1.0), criterion=Average())
    >>> bound = PairsBound([], [0, 1], [0, 1], [1, 0], [0.1344707, 0.1344707])
    >>> round(float(bound.value(problem)), 6)  # randomised response, 1 / (1 + e)
    0.268941
    """

    kind: ClassVar[str] = "pairs"
    claimed: ClassVar[bool] = False

    weights: Floats = array(column("weights"))
    outputs: Floats = array(column("outputs"))
    firsts: Floats = array(column("firsts"))
    seconds: Floats = array(column("seconds"))
    amounts: Floats = array(column("amounts"))

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly: valid for every mechanism that keeps the pairs."""
        return bound_of_flows(problem, problem.table.down, self.weights, self.columns)

    @property
    def columns(self) -> tuple[Floats, ...]:
        """The flows."""
        return self.outputs, self.firsts, self.seconds, self.amounts

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(0.0, float_down(self.value(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, problem)

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(family_of(problem))


def bound_of_flows(problem: Problem, losses: Floats, weights: Floats, columns: tuple[Floats, ...]) -> Fraction:
    """What flows (columns of outputs, firsts, seconds, amounts) prove of such losses, or `CheckFailed`."""
    pairs_of(problem)
    if isinstance(problem.criterion, Lexicographic):
        raise CheckFailed(f"the evidence is about another criterion than {problem.criterion.words!r}")
    if isinstance(problem.criterion, Average):
        if weights.size:
            raise CheckFailed("the weights of an average are the prior, and evidence has none of its own")
        assert problem.weights is not None
        weights = problem.weights
    return weighted_bound(problem, losses, weights, columns) / exact_sum(weights)


def weighted_bound(problem: Problem, losses: Floats, weights: Floats, columns: tuple[Floats, ...]) -> Fraction:
    """What flows prove of the sum of such losses with these weights, one for each input."""
    if len({part.shape for part in columns}) > 1:
        raise CheckFailed("every flow needs an output, two inputs and an amount")
    flows = np.stack(columns, axis=1) if columns[0].size else np.empty((0, 4))
    return flow_bound(pairs_of(problem).at_most, losses, weights, flows)


def attained_by(mechanism: Any, problem: Problem) -> float:
    """At least what the mechanism loses: under the prior, or at the worst input."""
    errors = errors_up(require_table(mechanism, problem), problem)
    return float(errors.max()) if problem.weights is None else average_up(errors, problem.weights)


def average_up(errors: Floats, prior: Floats) -> float:
    """At least the mean of errors under the prior."""
    return float(math.fsum((prior * errors).tolist()) / math.fsum(prior.tolist()) * (1 + _OUTWARD))


def errors_up(table: Discrete, problem: Problem) -> Floats:
    """At least the expected loss at each input: sums of products of at least 0, each rounded once, moved outward."""
    columns = output_columns(table, problem)
    products = table.probabilities * problem.table.up[:, columns]
    sums = zip(products.tolist(), table.probabilities.tolist(), strict=True)
    return np.array([math.fsum(part) / math.fsum(row) for part, row in sums]) * (1 + _OUTWARD)


def output_columns(table: Discrete, problem: Problem) -> NDArray[np.intp]:
    """The columns of the problem's losses that the table's outputs are, or `CheckFailed`."""
    known = {place: k for k, place in enumerate(problem.table.outputs.points)}
    try:
        return np.array([known[place] for place in table.outputs.points], dtype=np.intp)
    except KeyError:
        raise CheckFailed(f"{table.name} has outputs that are none of the problem's") from None


def family_of(problem: Problem) -> Family:
    """The mechanisms that a bound over the problem's outputs holds for."""
    privacy, loss = pairs_of(problem), problem.loss
    on_line = isinstance(privacy, Metric) and privacy.points.shape[1] == 1 and isinstance(problem.among, All)
    return Family.ALL if on_line and isinstance(loss, Distances) and loss.exponent == 1 else Family.ON_OUTPUTS


def require_table(mechanism: Any, problem: Problem) -> Discrete:
    """The mechanism, if it is a table for this problem, else `CheckFailed`."""
    pairs_of(problem)
    return require_mechanism(mechanism, Discrete, problem)
