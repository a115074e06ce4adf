"""What proves the least expected loss for a matrix: levels and weights, evaluated in rational arithmetic.

The inequality is that of `mechdesign.exact.matrix`: for weights w that sum to one, and any level v for each input, the
worst case of every epsilon-LDP mechanism with the outputs of the matrix is at least

    ``sum_x w_x v_x + min over base measures mu of sum_y mu(y) sum_x w_x phi(loss[x, y] - v_x)``,

and so is its average where the weights are the prior. Multipliers of a cap are weights beside the prior.

Distances of numbers are rounded: the lower bound is taken with every loss rounded down, the mechanism's error with
every loss rounded up, so both hold for the exact losses.

**Outputs.** For the absolute error of numbers the bound holds for all mechanisms with outputs on the line: an output
between two neighbouring points a < b may be moved to b with probability (y - a)/(b - a) and to a otherwise. As |x - y|
is linear between a and b for every point x, no expected loss changes, and no ratio grows. An output outside the points
is nearer to all of them at the end point. For the square outputs between the points can be better, and the bound is for
these outputs only.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.matrix import exact_errors, matrix_bound, matrix_error, weighted_mean
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.evidence import column, require_mechanism
from mechdesign.methods.finite.supports import losses_of
from mechdesign.values.declare import array, evolved, frozen
from mechdesign.words.criteria import Family, Lexicographic, Scope
from mechdesign.words.domains import Finite
from mechdesign.words.losses import Power
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]


@frozen
class FiniteBound:
    """Levels and weights, one an input, that bound the worst case; for an average the weights are 0 beside the prior.

    >>> from mechdesign.words.privacy import Pure
    >>> problem = Problem(loss=[[0.0, 1.0], [1.0, 0.0]], privacy=Pure(1.0))
    >>> bound = FiniteBound([0.2689, 0.2689], [0.5, 0.5])
    >>> round(float(bound.value(problem)), 4)  # the optimum is that of randomised response, 1 / (1 + e) = 0.26894
    0.2689
    """

    kind: ClassVar[str] = "finite"
    claimed: ClassVar[bool] = False

    levels: Floats = array(column("levels"))
    weights: Floats = array(column("weights"))

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly: valid for every epsilon-LDP mechanism with these outputs."""
        return matrix_bound(problem.epsilon, losses_of(problem).down, self.levels, self.weights, problem.weights)

    def bound(self, problem: Any, mechanism: Any) -> float:
        return float_down(self.value(_without_cap(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        asked = _without_cap(problem)
        return float_up(matrix_error(_by_column(mechanism, asked), losses_of(asked).up, asked.weights))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        return Scope(_family(_without_cap(problem)))


@frozen
class LexicographicBound:
    """A bound of the average among mechanisms with a capped worst case, and one that shows how low the cap is.

    The cap is ``1 + slack`` times what ``worst`` proves to be the least worst case, and the weights of ``average`` are
    its multipliers.
    """

    kind: ClassVar[str] = "finite lexicographic"
    claimed: ClassVar[bool] = False

    average: FiniteBound
    worst: FiniteBound

    def cap(self, problem: Problem) -> float:
        """The worst case that mechanisms may have."""
        return cap_above(self.worst, problem)

    def least(self, problem: Problem) -> float:
        """The least worst case, as far as it is proven."""
        return self.cap(problem) / (1 + _slack(problem))

    def bound(self, problem: Any, mechanism: Any) -> float:
        levels, weights = self.average.levels, self.average.weights
        losses, cap = losses_of(problem).down, self.cap(problem)
        return float_down(matrix_bound(problem.epsilon, losses, levels, weights, problem.weights, cap))

    def attained(self, problem: Any, mechanism: Any) -> float:
        cap, errors = self.cap(problem), exact_errors(_by_column(mechanism, problem), losses_of(problem).up)
        if max(errors) > Fraction(cap):
            raise CheckFailed(f"the mechanism's worst case {float(max(errors))!r} is above the cap {cap!r}")
        assert problem.weights is not None
        return float_up(weighted_mean(errors, problem.weights))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        least = f", at most {1 + _slack(problem)!r} times the least"
        return Scope(_family(problem), cap=self.cap(problem), cap_is=least)


def worst_error(mechanism: Discrete, problem: Problem) -> Fraction:
    """The exact worst case of a mechanism of the problem."""
    return max(exact_errors(_by_column(mechanism, problem), losses_of(problem).up))


def cap_above(worst: FiniteBound, problem: Problem) -> float:
    """``1 + slack`` times what is proven to be the least worst case, rounded down."""
    least = matrix_bound(problem.epsilon, losses_of(problem).down, worst.levels, worst.weights)
    return float_down(least * (1 + Fraction(_slack(problem))))


def _slack(problem: Problem) -> float:
    losses_of(problem)
    if not isinstance(problem.criterion, Lexicographic):
        raise CheckFailed(f"the evidence is about another criterion than {problem.criterion.words!r}")
    return problem.criterion.slack


def _without_cap(problem: Problem) -> Problem:
    losses_of(problem)
    if isinstance(problem.criterion, Lexicographic):
        raise CheckFailed(f"the evidence is about another criterion than {problem.criterion.words!r}")
    return problem


def _family(problem: Problem) -> Family:
    return Family.ALL if problem.loss == Power(1.0) else Family.ON_OUTPUTS


def _by_column(mechanism: Any, problem: Problem) -> Discrete:
    """The mechanism with the numbers of columns in place of its outputs."""
    table, columns = require_mechanism(mechanism, Discrete, problem), losses_of(problem).outputs
    if not set(table.outputs.points) <= set(columns.points):
        raise CheckFailed(f"{table.name} has outputs that are no columns of the loss matrix, nor points of the domain")
    return evolved(table, outputs=Finite(tuple(columns.index(table.outputs.points).tolist())))
