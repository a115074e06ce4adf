"""The least average loss among mechanisms whose worst case is next to the least, where every pair has its own epsilon.

First the least worst case, and flows that prove it to a part of the slack; the cap is ``1 + slack`` times what they
prove. Then the program of the average with a cap on every row. Its table is repaired, mixed with that of the least
worst case until the cap holds, and proven with `mechdesign.methods.pairwise.lexicographic_proof`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from mechdesign_solvers.cones import ConeOptimum, ConeProgram, solve_cones
from numpy.typing import NDArray

from mechdesign.errors import NoAnswer
from mechdesign.exact.rational import float_down
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.pairwise.answer import concluded, repaired
from mechdesign.methods.pairwise.blocks import solved, thinned
from mechdesign.methods.pairwise.lexicographic_proof import PairsLexicographicBound, average_below, cap_above
from mechdesign.methods.pairwise.program import whole_program
from mechdesign.methods.pairwise.proof import PairsBound, errors_up
from mechdesign.methods.result import Design
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.criteria import Lexicographic, Worst
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_LEAST_GAP = 1e-9
_FIRST_SHARE = 0.1  # of slack or gap, to the least worst case
_PROGRAM_SHARE = 0.05  # of the gap asked for
_ROOM = 0.02  # of slack or gap, below the cap: for repair
_ROOM_COST = 0.2  # of the gap, to that
_LEAST_ROOM = 1e-3
_MORE = 1.05
_TINY = 1e-290
_LEAST_SHARE, _GROWTH = 1e-12, 10.0  # of the table of the least worst case


def optimal_lexicographic(problem: Problem, gap: float, clock: Clock, say: Callable[[float, float], object]) -> Design:
    """The certified optimum, or `NoAnswer` with bounds of the average at the least worst case."""
    losses, criterion = problem.table.up, problem.criterion
    assert isinstance(criterion, Lexicographic)
    prior = problem.weights
    assert prior is not None
    fine = min(gap, criterion.slack)
    alone, finer = evolved(problem, criterion=Worst()), max(_LEAST_GAP, _FIRST_SHARE * fine)
    first = solved(alone, losses, _PROGRAM_SHARE * finer, clock.share(2).deadline, say)
    worst = PairsBound(first.weights, *thinned(alone, finer, problem.table.down, first.weights, first.flows).T)
    cap = cap_above(worst, problem)
    errors = errors_up(repaired(alone, finer, first.table), problem)
    unpriced = PairsBound(prior, *np.empty((4, 0)))
    if errors.max() > cap:
        reason = "the time limit was reached" if clock.is_over else "the least worst case is not known to its slack"
        # the least worst case is at most that of this table, and averages are at most worst cases
        most = min(float(errors.max()) * (1 + criterion.slack), float(losses.max()))
        raise NoAnswer(reason, float_down(average_below(unpriced, problem, cap)), most)
    program, optimum = _under(problem, gap, cap, _ROOM * fine, clock, say)
    weights = prior + np.maximum(optimum.weights, 0.0)
    flows = np.stack([program.block, program.first, program.second, optimum.flow], axis=1)
    # with prices flows prove a sum that is larger than the average: what thinning loses is relative to that
    share = float(prior @ errors) / max(float(weights @ errors), _TINY)
    exact = max(_LEAST_GAP, share * gap)
    priced = PairsBound(weights, *thinned(alone, exact, problem.table.down, weights, flows).T)
    average = max(priced, unpriced, key=lambda bound: average_below(bound, problem, cap))
    mechanism = _capped(problem, gap, optimum.values.T, first.table, cap)
    details = {
        "steps": first.steps + optimum.steps,
        "flows": len(average.amounts),
        "worst case": [float_down(worst.value(alone)), cap],
    }
    return concluded(problem, gap, clock, PairsLexicographicBound(average, worst), mechanism, details)


def _under(
    problem: Problem, gap: float, cap: float, room: float, clock: Clock, say: Callable[[float, float], object]
) -> tuple[ConeProgram, ConeOptimum]:
    """The program with the cap, less a share of it as room for repair: less room where it would cost too much.

    A cap above every loss is none.
    """
    if cap * (1 - room) >= problem.table.up.max():
        program = whole_program(problem, problem.table.up)
        optimum = solve_cones(program, _PROGRAM_SHARE * gap, clock.deadline, say)
        return program, replace(optimum, weights=np.zeros(program.count))
    program = whole_program(problem, problem.table.up, cap * (1 - room))
    optimum = solve_cones(program, _PROGRAM_SHARE * gap, clock.deadline, say)
    cost, most = room * cap * float(optimum.weights.sum()), _ROOM_COST * gap * optimum.upper
    if cost <= most or clock.is_over:
        return program, optimum
    program = whole_program(problem, problem.table.up, cap * (1 - room * max(most / cost, _LEAST_ROOM)))
    return program, solve_cones(program, _PROGRAM_SHARE * gap, clock.deadline, say)


def _capped(problem: Problem, gap: float, table: Floats, low: Floats, cap: float) -> Discrete:
    """The table, with as much of that of the least worst case as repair needs to keep the cap."""
    share, least = 0.0, errors_up(repaired(problem, gap, low), problem)
    while True:
        mechanism = repaired(problem, gap, (1 - share) * table + share * low)
        errors = errors_up(mechanism, problem)
        over = errors > cap
        if share >= 1 or not over.any():
            return mechanism
        missing = float(((errors - cap)[over] / np.maximum(errors - least, errors - cap)[over]).max())
        share = min(1.0, max(_LEAST_SHARE, _GROWTH * share, _MORE * missing))
