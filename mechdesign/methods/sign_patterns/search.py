"""How many numbers to draw and what to report of their signs, in closed form; prices that bound all others.

**Upper end.** ``E|Y|^2`` is a formula for every number drawn and every reach (`PatternResponse`); the least is taken.

**Lower end.** Up to 7 numbers it follows from the problem. For more a linear program over counts of pairs of patterns,
in the prices a, the slope s and the bound h of `mechdesign.exact.sign_patterns.lean_by_pairs`: for each size m of T
it is linear in them, and m is tried.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from mechdesign.exact.sign_patterns import MOST_BY_SETS, krawtchouk
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.methods.sign_patterns.proof import SignPatternsBound
from mechdesign.methods.sign_patterns.response import MOST_DRAWN, PatternResponse
from mechdesign.methods.sign_patterns.supports import halves_of
from mechdesign.words.problem import Problem

_MOST_PRICED = 40
"""Beyond, Krawtchouk polynomials are too uneven for a program in doubles."""

_TRIED = 24


def answer(problem: Problem, demands: Demands) -> Design:
    """Sign patterns with the least worst variance, and the bound for all unbiased mechanisms.

    >>> import mechdesign as md
    >>> asked = md.Problem(inputs=md.cube_of(4), loss=md.Squared(), privacy=md.Pure(2.0), among=md.Unbiased())
    >>> round(answer(asked, Demands()).certificate.lower, 4)
    17.1528
    """
    clock, halves = demands.clock(), halves_of(problem)
    response = best_response(problem.epsilon, halves)
    evidence = _priced(problem.epsilon, len(halves))
    details = {"drawn": response.drawn, "reach": response.reach}
    report = Report(clock.used, "closed form", versions("numpy", "highspy"), details, demands.gap)
    return demands.met_by(Design(problem, response.channel(problem.epsilon), evidence, report), "the closed form ended")


def best_response(epsilon: float, halves: list[Fraction]) -> PatternResponse:
    """The one with the least ``E|Y|^2``.

    >>> [best_response(eps, [Fraction(1)] * 5).drawn for eps in (1.34, 1.35, 2.69, 2.70, 3.79, 3.81)]
    [1, 2, 2, 3, 3, 4]
    """
    ratio = Fraction(math.exp(epsilon))
    tried = [
        PatternResponse(drawn, reach)
        for drawn in range(1, min(len(halves), MOST_DRAWN) + 1)
        for reach in range((drawn + 1) // 2)
    ]
    return min(tried, key=lambda response: response.second_moment(ratio, halves))


def _priced(epsilon: float, count: int) -> SignPatternsBound:
    """The evidence with the least lean over sizes of T, which is a function with one valley."""
    if not MOST_BY_SETS < count <= _MOST_PRICED:
        return SignPatternsBound()
    program = _PairProgram(epsilon, count)
    low, high = 0.0, 0.5
    found = [program.solved(high)]
    for _ in range(_TRIED):
        left, right = low + 0.382 * (high - low), high - 0.382 * (high - low)
        tried = program.solved(left), program.solved(right)
        found += tried
        low, high = (low, right) if tried[0].lean <= tried[1].lean else (left, high)
    return min(found, key=lambda one: one.lean).evidence


class _Priced(NamedTuple):
    lean: float
    evidence: SignPatternsBound


class _PairProgram:
    """``minimise h`` over prices, a slope and h; a row a level, and one for the size."""

    def __init__(self, epsilon: float, count: int) -> None:
        self.count, self.gap = count, 1 / math.expm1(epsilon)
        levels = range(count + 1)
        self.paid = np.array([[float(krawtchouk(count, i, j)) for i in range(1, count + 1)] for j in levels])
        self.first = np.zeros(count + 1)
        self.first[0] = 1.0

    def solved(self, size: float) -> _Priced:
        from mechdesign_solvers import Highs, LinearProgram, Status

        levels = np.column_stack([self.paid, self.first - 2 * size, -(2 * self.gap + self.first)])
        whole = np.concatenate([np.zeros(self.count), [size**2, -(self.gap**2)]])
        right = np.zeros(self.count + 2)
        right[1] = -1.0
        cost = np.zeros(self.count + 2)
        cost[-1] = 1.0
        program = LinearProgram.of(cost=cost, matrix=np.vstack([levels, whole]), row_upper=right, lower=0.0)
        solution = Highs(method="simplex").solve(program)
        if solution.status is not Status.OPTIMAL or solution.primal is None:
            return _Priced(math.inf, SignPatternsBound())
        prices = np.maximum(solution.primal[:-2], 0.0)
        return _Priced(
            float(solution.primal[-1]), SignPatternsBound(prices, max(float(solution.primal[-2]), 0.0), size)
        )
