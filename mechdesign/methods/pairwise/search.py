"""The best mechanism where every pair of inputs has its own epsilon, with its proof.

**Problem.** ``q(y|x) <= e^E(x,x') q(y|x')`` for every pair; minimised is the expected loss under a prior, at the worst
input, or under a prior next to the least at the worst input. Every output's column of q lies in the cone of the pairs,
and rows sum to one.

**Program.** An interior-point method with one block an output, `mechdesign_solvers.cones`, in which the compact program
is never written down. With up to 128 inputs it has all inputs and all irreducible pairs in each block. With more it is
a relaxation (blocks around the outputs, pairs of near neighbours; `mechdesign.methods.pairwise.program`), and what it
finds is raised to what all pairs need.

**Proof.** Its flows, evaluated in rationals (`mechdesign.methods.pairwise.proof`); its table, repaired until every pair
holds as rationals (`mechdesign.methods.pairwise.repair`). Neither rests on how well the program was solved.

Bordenabe, Chatzikokolakis, Palamidessi, *Optimal geo-indistinguishable mechanisms for location privacy* (2014);
Ghosh, Roughgarden, Sundararajan, *Universally utility-maximizing privacy mechanisms* (2009), the line.
"""

from __future__ import annotations

import numpy as np
from threadpoolctl import threadpool_limits

from mechdesign.methods.method import Demands
from mechdesign.methods.pairwise.answer import answered
from mechdesign.methods.pairwise.blocks import Solved, solved, thinned
from mechdesign.methods.pairwise.lexicographic_search import optimal_lexicographic
from mechdesign.methods.pairwise.plane_search import optimal_in_plane
from mechdesign.methods.pairwise.proof import PairsBound
from mechdesign.methods.result import Design
from mechdesign.values.clock import Clock
from mechdesign.words.classes import InPlane
from mechdesign.words.criteria import Lexicographic
from mechdesign.words.problem import Problem

_GAP, _LEXICOGRAPHIC_GAP = 1e-6, 1e-3  # unless others are demanded
_PROGRAM_SHARE = 0.05  # of the gap asked for


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if time or doubles run out first, with the design found until then.

    A gap is met where bounds are apart by 1e-9 of the largest loss, too.

    >>> from mechdesign.words.criteria import Average
    >>> from mechdesign.words.finite_losses import Distances
    >>> from mechdesign.words.pairs import Metric
    >>> problem = Problem(loss=Distances(), privacy=Metric([0, 1, 2, 3], 1.0), criterion=Average())
    >>> design = answer(problem, Demands())
    >>> [round(end, 5) for end in (design.certificate.lower, design.certificate.upper)]
    [0.52055, 0.52055]
    """
    clock, is_capped = demands.clock(), isinstance(problem.criterion, Lexicographic)
    gap = demands.within(_LEXICOGRAPHIC_GAP if is_capped else _GAP)
    with threadpool_limits(1, user_api="blas"):
        if isinstance(problem.among, InPlane):
            return optimal_in_plane(problem, gap, clock, demands.say)
        if is_capped:
            return optimal_lexicographic(problem, gap, clock, demands.say)
        found = solved(problem, problem.table.up, _PROGRAM_SHARE * gap, clock.deadline, demands.say)
        return _design(problem, gap, clock, found)


def _design(problem: Problem, gap: float, clock: Clock, found: Solved) -> Design:
    """The design that a program's optimum gives, or `NoAnswer` where its gap is wider than was asked."""
    flows = thinned(problem, gap, problem.table.down, found.weights, found.flows)
    evidence = PairsBound(np.empty(0) if problem.weights is not None else found.weights, *flows.T)
    return answered(problem, gap, clock, evidence, found.table, {"steps": found.steps, "flows": len(flows)})
