"""The best mechanism where every pair of inputs has its own epsilon, with its proof.

**Problem.** ``q(y|x) <= e^E(x,x') q(y|x')`` for every pair; minimised is the expected loss under a prior, or at the
worst input. Every output's column of q lies in the cone of the pairs, and rows sum to one.

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
from typing import Any

import numpy as np
from mechdesign_solvers.cones import ConeOptimum, ConeProgram, solve_cones
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mechdesign.criteria import Aim
from mechdesign.design.evidence import require_asked
from mechdesign.design.pairwise.problem import InPlane, PairwiseProblem
from mechdesign.design.pairwise.program import (
    MOST_WHOLE,
    near_pairs,
    whole_program,
    windowed_program,
    windows,
)
from mechdesign.design.pairwise.proof import PairsBound
from mechdesign.design.pairwise.repair import kept
from mechdesign.design.result import Design, Report, saying_why, versions, within_gap
from mechdesign.exact.flows import flows_left
from mechdesign.values.clock import Clock

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_PROGRAM_SHARE = 0.05  # of the gap asked for
_THIN = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 0.0)
_LOST = 0.02  # of the gap, to flows that are left out of the evidence
_DIGITS = 10
_CELL_GAP = 1e-4
_NOTHING = 1e-9  # of the largest loss: bounds that are nearer than this have no relative gap
_UNUSED = 0.01  # of the gap: the share of reports on outputs that are left out
_HAIR = 1e-9  # of a reduced cost, which stays where it is
_MANY = 600
_EFFORT = 160, 80, 1e-9  # nodes of a block, neighbours of an input, and the least share of a node that is counted
_LESS_EFFORT = 60, 16, 1e-3


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
        is_whole = len(problem.privacy) <= MOST_WHOLE or problem.aim == Aim.MATRIX_WORST.value
        return _whole(problem, clock, say) if is_whole else _windowed(problem, clock, say)


def _whole(problem: PairwiseProblem, clock: Clock, say: Callable[[float, float], object]) -> Design:
    gap = _PROGRAM_SHARE * problem.gap
    if isinstance(problem.losses, InPlane):  # what bounds is the nearest place of a cell, what is reported another
        gap = min(gap, _CELL_GAP)
    program = whole_program(problem, problem.losses_up)
    optimum = solve_cones(
        program, gap, (clock.share(2) if isinstance(problem.losses, InPlane) else clock).deadline, say
    )
    proving = optimum
    if isinstance(problem.losses, InPlane):
        proving = solve_cones(whole_program(problem, problem.losses_down), gap, clock.deadline, say)
    flows = np.stack([program.block, program.first, program.second, proving.flow], axis=1)
    return _answer(problem, clock, optimum, optimum.values.T, flows, proving.weights)


def _windowed(problem: PairwiseProblem, clock: Clock, say: Callable[[float, float], object]) -> Design:
    nodes, degree, least = _EFFORT if len(problem.privacy) <= _MANY else _LESS_EFFORT
    window = windows(problem, min(nodes, len(problem.privacy)))
    first, second = near_pairs(problem, degree)
    program = windowed_program(problem, window, first, second, least)
    optimum = solve_cones(program, _PROGRAM_SHARE * problem.gap, clock.deadline, say)
    return _answer(problem, clock, optimum, *lifted(problem, program, window, optimum), optimum.weights)


def lifted(
    problem: PairwiseProblem, program: ConeProgram, window: Places, optimum: ConeOptimum
) -> tuple[Floats, Floats]:
    """The table at all inputs, and flows on all pairs: those of blocks, and of inputs to what they are tied to."""
    outputs = len(window)
    table = np.zeros((program.count, outputs))
    at = np.arange(outputs)[:, None]
    table[program.inputs, at] = program.share * optimum.values[at, program.node]
    table[window, at] = optimum.values
    assert problem.prior is not None
    one, other = (window[program.block, part] for part in (program.first, program.second))
    inner = np.stack([program.block, one, other, optimum.flow], axis=1)
    # an input's own reduced cost goes to the node it is tied to
    left = problem.prior[program.inputs] * program.loss - optimum.rows[program.inputs]
    tied = window[at, program.node]
    amounts = np.maximum(left, 0.0) * program.share * (1 - _HAIR)
    outer = np.stack([np.broadcast_to(at, tied.shape), tied, program.inputs, amounts], axis=2).reshape(-1, 4)
    outer = outer[outer[:, 1] != outer[:, 2]]
    return table, np.concatenate([inner, outer])


def _answer(
    problem: PairwiseProblem, clock: Clock, optimum: ConeOptimum, table: Floats, flows: Floats, weights: Floats
) -> Design:
    """The design that a program's optimum gives, or `NoAnswer` where its gap is wider than was asked."""
    average = problem.prior is not None
    weights = problem.prior if problem.prior is not None else np.maximum(weights, 0.0)
    flows = thinned(problem, weights, flows)
    evidence = PairsBound(np.empty(0) if average else weights, *flows.T)
    mechanism = kept(
        table,
        problem.privacy,
        problem.outputs,
        problem.inputs,
        problem.epsilon,
        "pairwise optimum",
        _UNUSED * problem.gap,
    )
    details: dict[str, Any] = {"outputs": len(mechanism.outputs), "steps": optimum.steps, "flows": len(flows)}
    report = Report(clock.used, "interior point on cones", versions("numpy", "scipy"), details)
    stopped = "the time limit was reached" if clock.is_over else "rounding ended the search"
    design = Design(problem, mechanism, evidence, report)
    certificate = design.certificate
    if certificate.upper - certificate.lower <= _NOTHING * float(problem.losses_up.max()):
        return design
    return within_gap(saying_why(design, problem.gap, stopped), problem.gap, stopped)


def thinned(problem: PairwiseProblem, weights: Floats, flows: Floats) -> Floats:
    """The flows without those that hardly matter, to ten digits: files hold them."""
    flows = flows[flows[:, 3] > 0]
    epsilons, losses = problem.privacy.at_most, problem.losses_down
    whole = flows[:, 1].astype(np.intp), flows[:, 2].astype(np.intp)
    size = flows[:, 3] * np.exp(epsilons[whole])

    def proven(part: Floats) -> float:
        return float(flows_left(epsilons, losses, weights, part).min(axis=1).sum())

    best = proven(flows)
    scale = float((weights[:, None] * losses).max())
    for share in _THIN:
        part = flows[size > share * scale].copy()
        part[:, 3] = _in_digits(part[:, 3])
        if best - proven(part) <= _LOST * problem.gap * best:
            return part
    return flows


def _in_digits(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        places = _DIGITS - 1 - np.floor(np.log10(np.maximum(values, 1e-290)))
    unit = 10.0**places
    return np.asarray(np.round(values * unit) / unit)
