"""A lower bound on the prior-weighted variance of every unbiased epsilon-LDP mechanism that reports on a grid.

In steps of the grid the inputs are ``x = 0, ..., N`` and reports whole numbers y. As in
`mechdesign.methods.unbiased.proof`, with ``c = e^eps``, ``phi(t) = min(t, c t)`` and a base measure mu of mass at most
1, any value v and slope s for each input give, since ``E[Y|x] = x`` and ``t_x(y) = p (y - x)^2 - s (y - x) - v``,

    ``sum_x p_x Var(Y|x) = sum_x v_x + sum_x E[t_x(Y)|x] >= sum_x v_x + min(0, min over y of G(y))``,
    ``G(y) = sum_x phi(t_x(y))``.

G has to be known on whole numbers only. From a place S on it is bounded by one parabola: phi is concave and
homogeneous, hence superadditive, and with h = y - S

    ``G(S + h) >= h^2 sum_x p_x + h sum_x phi(t_x'(S)) + sum_x phi(t_x(S))``.

That bound holds whatever the tails are. For laws with geometric tails of one ratio from S on, as in the paper of AAA,
it is enough to know the sum of phi over the average of ``t_x`` in the tail: if it is proven that way, `Tails` says so.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import CheckFailed
from mechdesign.exact.phi import phi_sum
from mechdesign.exact.rational import exp_upper, float_down, float_up
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.methods.additive.supports import grid_of, supports
from mechdesign.methods.evidence import column, require_columns, require_mechanism
from mechdesign.methods.grid_prior import average_variance, weights_on_grid
from mechdesign.methods.line import line_of
from mechdesign.values.declare import array, frozen
from mechdesign.values.dyadic import dyadic
from mechdesign.words.criteria import Family, Scope

Floats = NDArray[np.float64]


class Tails(Enum):
    """Against which mechanisms a bound is proven: those with any tails, or with geometric tails as in the problem."""

    ALL = "all"
    SAME = "same"


@frozen
class AdditiveBound:
    """A value v and a slope s for each input of the grid, in steps: whole numbers are the reports.

    Reports are looked at one by one up to the problem's ``reach`` steps beyond the inputs.

    >>> import mechdesign as md
    >>> ends = md.Average(md.priors.Atoms([-1.0, 1.0], [0.5, 0.5]))
    >>> among = md.OnGrid(bins=2, reach=4)
    >>> problem = md.Problem(inputs=(-1, 1), loss="squared", privacy=md.Pure(1.0), criterion=ends, among=among)
    >>> bound = AdditiveBound([1.8, 0.0, 1.8], [-1.4, 0.0, 1.4], Tails.ALL)
    >>> 0 < bound.value(problem) < 3.7  # Duchi's mechanism has 3.68 here, with reports between those of the grid
    True
    """

    kind: ClassVar[str] = "additive"
    claimed: ClassVar[bool] = False

    values: Floats = array(column("values"))
    slopes: Floats = array(column("slopes"))
    tails: Tails

    def value(self, problem: Any) -> Fraction:
        """The bound in units of the whole domain, as if it were [0, 1]: an exact rational.

        Weights are used as they are and divided by their exact sum.
        """
        grid, reach, tail = grid_of(problem)
        bins, count = grid.bins, grid.bins + 1
        require_columns(count, values=self.values, slopes=self.slopes)
        # the common scale drops out of the quotient at the end
        whole, _ = dyadic(np.concatenate([weights_on_grid(problem, count), self.values, self.slopes]))
        weights, values, slopes = (whole[k * count : (k + 1) * count] for k in range(3))
        terms = _Terms(weights, values, slopes, exp_upper(problem.epsilon))
        first, last = -reach, bins + reach
        least = min(terms.sum_at(y) for y in range(first + 1, last))
        if self.tails is Tails.ALL:
            ends = [terms.least_beyond(first, -1), terms.least_beyond(last, 1)]
        else:
            ends = [terms.mean_of_tail(first, -1, tail), terms.mean_of_tail(last, 1, tail)]
        return (sum(values) + min(Fraction(0), least, *ends)) / (sum(weights) * bins**2)

    def bound(self, problem: Any, mechanism: Any) -> float:
        inputs = line_of(problem, supports).inputs
        length = Fraction(inputs.upper) - Fraction(inputs.lower)
        return max(0.0, float_down(self.value(problem) * length**2))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The average variance on the grid: unbiased for every real input by its definition, checked when built."""
        grid, reach, tail = grid_of(problem)
        noise = require_mechanism(mechanism, ConditionalNoise, problem)
        if (noise.bins, noise.reach, noise.tail) != (grid.bins, reach, tail):
            raise CheckFailed(f"{noise.name} has another grid, or other tails, than the problem")
        return float_up(average_variance(noise.exact_variance, weights_on_grid(problem, grid.bins + 1)))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        grid, reach, tail = grid_of(problem)
        narrowed = f" of {grid.bins + 1} inputs"
        if self.tails is Tails.SAME:
            narrowed += f" and tails of ratio {tail}/{tail + 1} from {reach} steps beyond them"
        return Scope(Family.UNBIASED_ON_GRID, narrowed)


class _Terms(NamedTuple):
    """The quadratics of the inputs in whole numbers, all on one scale, and ``ratio >= e^eps``."""

    weights: list[int]
    values: list[int]
    slopes: list[int]
    ratio: Fraction

    def _phi_sum(self, term: Callable[[int, int, int, int], int]) -> Fraction:
        """The sum of phi over the inputs; ``term`` maps place, weight, value and slope to a number."""
        columns = zip(self.weights, self.values, self.slopes, strict=True)
        return phi_sum((term(x, p, v, s) for x, (p, v, s) in enumerate(columns)), self.ratio)

    def sum_at(self, y: int) -> Fraction:
        """``G(y)``."""
        return self._phi_sum(lambda x, p, v, s: ((y - x) * p - s) * (y - x) - v)

    def least_beyond(self, place: int, side: int) -> Fraction:
        """At most the least of G from a place on, to the right (``side`` 1) or to the left (-1)."""
        start = self.sum_at(place)
        rise = self._phi_sum(lambda x, p, v, s: side * (2 * p * (place - x) - s))
        return start if rise >= 0 else start - rise * rise / (4 * sum(self.weights))

    def mean_of_tail(self, place: int, side: int, tail: int) -> Fraction:
        """The sum of phi over the averages of the quadratics in a geometric tail: its mean and variance are whole."""
        mean, variance = place + side * tail, tail * (tail + 1)
        return self._phi_sum(lambda x, p, v, s: ((mean - x) * p - s) * (mean - x) - v + p * variance)
