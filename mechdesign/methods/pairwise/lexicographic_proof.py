"""Bounds of the average among mechanisms whose worst case is next to the least, where every pair has its own epsilon.

For prices ``s_x >= 0`` every mechanism that keeps the pairs, with a worst case of at most C, has

    ``sum_x p_x loss_x >= sum_x (p_x + s_x) loss_x - C sum_x s_x``,

loss_x being its expected loss at x: prices are weights beside the prior, and `mechdesign.exact.flows` bounds the sum.
The cap C is ``1 + slack`` times what flows prove of every worst case, and so at most that times the least.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from mechdesign.errors import CheckFailed
from mechdesign.exact.matrix import exact_sum
from mechdesign.exact.rational import float_down
from mechdesign.methods.pairwise.proof import (
    Floats,
    PairsBound,
    average_up,
    errors_up,
    family_of,
    require_table,
    weighted_bound,
)
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.values.declare import frozen
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Lexicographic, Scope
from mechdesign.words.problem import Problem


@frozen
class PairsLexicographicBound:
    """A bound of the average among mechanisms with a capped worst case, and one that shows how low the cap is.

    The weights of ``average`` are the prior with the prices of the cap; those of ``worst`` are weights of the inputs.

    >>> from mechdesign.words.pairs import Metric
    >>> first = Lexicographic([0.75, 0.25], slack=0.01)
    >>> problem = Problem(loss=[[0, 1], [1, 0]], privacy=Metric([0, 1], 1.0), criterion=first)
    >>> flows = [0, 1], [0, 1], [1, 0], [0.1344707, 0.1344707]
    >>> round(PairsLexicographicBound(PairsBound([1, 1], *flows), PairsBound([1, 1], *flows)).cap(problem), 4)
    0.1358
    """

    kind: ClassVar[str] = "pairs lexicographic"
    claimed: ClassVar[bool] = False

    average: PairsBound
    worst: PairsBound

    def cap(self, problem: Problem) -> float:
        """The worst case that mechanisms may have."""
        return cap_above(self.worst, problem)

    def value(self, problem: Problem) -> Fraction:
        """The bound, exactly: valid for every mechanism that keeps the pairs and the cap."""
        return average_below(self.average, problem, self.cap(problem))

    def bound(self, problem: Any, mechanism: Any) -> float:
        _slack(problem)
        return max(0.0, float_down(self.value(problem)))

    def attained(self, problem: Any, mechanism: Any) -> float:
        """The mechanism's average loss, if its worst case keeps the cap."""
        cap, errors = self.cap(problem), errors_up(require_table(mechanism, problem), problem)
        if errors.max() > cap:
            raise CheckFailed(f"the mechanism's worst case {float(errors.max())!r} is above the cap {cap!r}")
        return average_up(errors, _prior(problem))

    def scope(self, problem: Any, mechanism: Any) -> Scope:
        least = f", at most {1 + _slack(problem)!r} times the least"
        return Scope(family_of(problem), cap=self.cap(problem), cap_is=least)


def cap_above(worst: PairsBound, problem: Problem) -> float:
    """``1 + slack`` times what is proven of every worst case, rounded down."""
    least = weighted_bound(problem, problem.table.down, worst.weights, worst.columns) / exact_sum(worst.weights)
    return float_down(max(Fraction(0), least) * (1 + Fraction(_slack(problem))))


def average_below(average: PairsBound, problem: Problem, cap: float) -> Fraction:
    """What is proven of the average of every mechanism with this cap."""
    prior, weights = _prior(problem), average.weights
    if weights.shape != prior.shape or (weights < prior).any():
        raise CheckFailed("the weights of a capped average must be at least the prior: prices are at least 0")
    total, own = exact_sum(weights), exact_sum(prior)
    least = weighted_bound(problem, problem.table.down, weights, average.columns)
    return (least - Fraction(cap) * (total - own)) / own


def _prior(problem: Problem) -> Floats:
    assert problem.weights is not None
    return problem.weights


def _slack(problem: Problem) -> float:
    pairs_of(problem)
    if not isinstance(problem.criterion, Lexicographic) or isinstance(problem.among, InPlane):
        raise CheckFailed(f"the evidence is about another criterion than {problem.criterion.words!r}")
    return problem.criterion.slack
