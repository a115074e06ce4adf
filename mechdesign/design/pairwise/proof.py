"""What proves the least expected loss where every pair has its own epsilon: flows on pairs, evaluated in rationals.

The inequality is that of `mechdesign.exact.flows`, for losses rounded down and epsilons rounded up: it holds for all
mechanisms that keep the pairs with outputs among the problem's.

**More outputs.** Reports on a line at distance ``|x - y|``: an output between neighbouring places a < b may be moved to
b with probability ``(y - a)/(b - a)`` and to a otherwise. The loss is linear between them for every input: no expected
loss changes, and no ratio grows. One outside is moved to the end.
In the plane outputs are no more than the places they are; `mechdesign.design.pairwise.plane_proof` bounds all of it.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.criteria import Aim, Family, Scope
from mechdesign.design.evidence import column, require_mechanism, require_problem
from mechdesign.design.pairwise.problem import Distances, PairwiseProblem
from mechdesign.errors import CheckFailed
from mechdesign.exact.flows import flow_bound
from mechdesign.exact.matrix import exact_sum
from mechdesign.exact.rational import float_down
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.pairs import Metric
from mechdesign.values.declare import array, frozen

Floats = NDArray[np.float64]

_OUTWARD = 2.0**-50  # a product, a sum that is rounded once and a quotient: three roundings of 2^-53


@frozen
class PairsBound:
    """Flows on pairs of inputs for each output, and for the worst case weights of the inputs.

    Flow k goes from input ``firsts[k]`` to ``seconds[k]`` for output ``outputs[k]``.

    >>> problem = PairwiseProblem(Metric([0, 1], 1.0), [[0, 1], [1, 0]])
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

    def value(self, problem: PairwiseProblem) -> Fraction:
        """The bound, exactly: valid for every mechanism that keeps the pairs."""
        return bound_of_flows(problem, problem.losses_down, self.weights, self.columns)

    @property
    def columns(self) -> tuple[Floats, ...]:
        """The flows."""
        return self.outputs, self.firsts, self.seconds, self.amounts

    def bound(self, problem: Any, mechanism: Any) -> float:
        return max(0.0, float_down(self.value(require_problem(problem, PairwiseProblem))))

    def attained(self, problem: Any, mechanism: Any) -> float:
        return attained_by(mechanism, require_problem(problem, PairwiseProblem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        asked = require_problem(problem, PairwiseProblem)
        return Scope(family_of(asked))


def bound_of_flows(problem: PairwiseProblem, losses: Floats, weights: Floats, columns: tuple[Floats, ...]) -> Fraction:
    """What flows (columns of outputs, firsts, seconds, amounts) prove of such losses, or `CheckFailed`."""
    if problem.aim == Aim.MATRIX_LEXICOGRAPHIC.value:
        raise CheckFailed(f"the evidence is about another criterion than {problem.aim!r}")
    if problem.aim == Aim.MATRIX_AVERAGE.value:
        if weights.size:
            raise CheckFailed("the weights of an average are the prior, and evidence has none of its own")
        assert problem.prior is not None
        weights = problem.prior
    return weighted_bound(problem, losses, weights, columns) / exact_sum(weights)


def weighted_bound(problem: PairwiseProblem, losses: Floats, weights: Floats, columns: tuple[Floats, ...]) -> Fraction:
    """What flows prove of the sum of such losses with these weights, one for each input."""
    if len({part.shape for part in columns}) > 1:
        raise CheckFailed("every flow needs an output, two inputs and an amount")
    flows = np.stack(columns, axis=1) if columns[0].size else np.empty((0, 4))
    return flow_bound(problem.privacy.at_most, losses, weights, flows)


def attained_by(mechanism: Any, problem: PairwiseProblem) -> float:
    """At least what the mechanism loses: under the prior, or at the worst input."""
    errors = errors_up(require_table(mechanism, problem), problem)
    return float(errors.max()) if problem.prior is None else average_up(errors, problem.prior)


def average_up(errors: Floats, prior: Floats) -> float:
    """At least the mean of errors under the prior."""
    return float(math.fsum((prior * errors).tolist()) / math.fsum(prior.tolist()) * (1 + _OUTWARD))


def errors_up(table: Discrete, problem: PairwiseProblem) -> Floats:
    """At least the expected loss at each input: sums of products of at least 0, each rounded once, moved outward."""
    columns = output_columns(table, problem)
    products = table.probabilities * problem.losses_up[:, columns]
    sums = zip(products.tolist(), table.probabilities.tolist(), strict=True)
    return np.array([math.fsum(part) / math.fsum(row) for part, row in sums]) * (1 + _OUTWARD)


def output_columns(table: Discrete, problem: PairwiseProblem) -> NDArray[np.intp]:
    """The columns of the problem's losses that the table's outputs are, or `CheckFailed`."""
    known = {place: k for k, place in enumerate(problem.outputs.points)}
    try:
        return np.array([known[place] for place in table.outputs.points], dtype=np.intp)
    except KeyError:
        raise CheckFailed(f"{table.name} has outputs that are none of the problem's") from None


def family_of(problem: PairwiseProblem) -> Family:
    """The mechanisms that a bound over the problem's outputs holds for."""
    losses, privacy = problem.losses, problem.privacy
    on_line = isinstance(losses, Distances) and isinstance(privacy, Metric) and privacy.points.shape[1] == 1
    is_free = on_line and isinstance(losses, Distances) and losses.exponent == 1 and losses.outputs is None
    return Family.ALL if is_free else Family.ON_OUTPUTS


def require_table(mechanism: Any, problem: PairwiseProblem) -> Discrete:
    """The mechanism, if it is a table for this problem, else `CheckFailed`."""
    return require_mechanism(mechanism, Discrete, problem)
