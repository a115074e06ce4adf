"""The best mechanism where every pair of inputs has its own epsilon, with its proof.

**Problem.** ``q(y|x) <= e^E(x,x') q(y|x')`` for every pair; minimised is the expected loss under a prior, at the worst
input, or under a prior next to the least at the worst input. Every output's column of q lies in the cone of the pairs,
and rows sum to one.

**Program.** An interior-point method with one block an output, `mechdesign_solvers.cones`, in which the compact program
is never written down. With up to 128 inputs it has all inputs and all irreducible pairs in each block. With more it is
a relaxation (blocks around the outputs, pairs of near neighbours; `mechdesign.design.pairwise.program`), and what it
finds is raised to what all pairs need.

**Proof.** Its flows, evaluated in rationals (`mechdesign.design.pairwise.proof`); its table, repaired until every pair
holds as rationals (`mechdesign.design.pairwise.repair`). Neither rests on how well the program was solved.

Bordenabe, Chatzikokolakis, Palamidessi, *Optimal geo-indistinguishable mechanisms for location privacy* (2014);
Ghosh, Roughgarden, Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009), the line.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from threadpoolctl import threadpool_limits

from mechdesign.criteria import Aim
from mechdesign.design.evidence import require_asked
from mechdesign.design.pairwise.answer import answered
from mechdesign.design.pairwise.blocks import Solved, solved, thinned
from mechdesign.design.pairwise.lexicographic_search import optimal_lexicographic
from mechdesign.design.pairwise.plane_search import optimal_in_plane
from mechdesign.design.pairwise.problem import InPlane, PairwiseProblem
from mechdesign.design.pairwise.proof import PairsBound
from mechdesign.design.result import Design
from mechdesign.values.clock import Clock

_PROGRAM_SHARE = 0.05  # of the gap asked for


def optimal_pairwise(
    problem: PairwiseProblem,
    seconds: float | None = None,
    say: Callable[[float, float], object] = lambda lower, upper: None,
) -> Design:
    """The certified optimum, or `NoAnswer` if time or doubles run out first, with the design found until then.

    ``say`` hears of the bounds of the program as it goes on; they are claims until they are proven.

    >>> from mechdesign.pairs import Metric
    >>> from mechdesign.design.pairwise.problem import Distances
    >>> design = optimal_pairwise(PairwiseProblem(Metric([0, 1, 2, 3], 1.0), Distances()))
    >>> [round(end, 5) for end in (design.certificate.lower, design.certificate.upper)]
    [0.52055, 0.52055]
    """
    require_asked(problem, PairwiseProblem)
    clock = Clock(seconds)
    with threadpool_limits(1, user_api="blas"):
        if isinstance(problem.losses, InPlane):
            return optimal_in_plane(problem, clock, say)
        if problem.aim == Aim.MATRIX_LEXICOGRAPHIC.value:
            return optimal_lexicographic(problem, clock, say)
        found = solved(problem, problem.losses_up, _PROGRAM_SHARE * problem.gap, clock.deadline, say)
        return _answer(problem, clock, found)


def _answer(problem: PairwiseProblem, clock: Clock, found: Solved) -> Design:
    """The design that a program's optimum gives, or `NoAnswer` where its gap is wider than was asked."""
    flows = thinned(problem, problem.losses_down, found.weights, found.flows)
    evidence = PairsBound(np.empty(0) if problem.prior is not None else found.weights, *flows.T)
    return answered(problem, clock, evidence, found.table, {"steps": found.steps, "flows": len(flows)})
