"""The program solved, whole or as a relaxation: a table at all inputs, and flows on all pairs that a proof may use.

Neither is trusted: the table is repaired (`mechdesign.methods.pairwise.repair`) and the flows are evaluated in
rationals (`mechdesign.exact.flows`). Losses are those of the outputs to choose from, or of the corners of rectangles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from mechdesign_solvers.cones import ConeOptimum, ConeProgram, solve_cones
from numpy.typing import NDArray

from mechdesign.exact.flows import flows_left
from mechdesign.methods.pairwise.program import MOST_WHOLE, near_pairs, whole_program, windowed_program, windows
from mechdesign.methods.pairwise.supports import pairs_of
from mechdesign.words.criteria import Average
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

MOST_WHOLE_WORST = 200
"""Inputs up to which blocks hold all of them where a worst case counts."""

_MANY = 600
_EFFORT = 160, 80, 1e-9  # nodes of a block, neighbours of an input, and the least share of a node that is counted
_LESS_EFFORT = 60, 16, 1e-3
_HAIR = 1e-9  # of a reduced cost, which stays where it is
_THIN = (1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 0.0)
_LOST = 0.02  # of the gap, to flows that are left out of the evidence
_DIGITS = 10


class Solved(NamedTuple):
    """A table (inputs, outputs), flows as rows ``output, first, second, amount``, and weights of the inputs.

    ``upper`` is what the table loses before it is repaired.
    """

    table: Floats
    flows: Floats
    weights: Floats
    upper: float
    steps: int


def solved(
    problem: Problem,
    losses: Floats,
    gap: float,
    deadline: float | None,
    say: Callable[[float, float], object] = lambda lower, upper: None,
) -> Solved:
    """The optimum for these losses to about a relative ``gap``, or what is found until the deadline."""
    size = len(pairs_of(problem))
    if size <= (MOST_WHOLE if isinstance(problem.criterion, Average) else MOST_WHOLE_WORST):
        program = whole_program(problem, losses)
        optimum = solve_cones(program, gap, deadline, say)
        table, flows = (
            optimum.values.T,
            np.stack([program.block, program.first, program.second, optimum.flow], axis=1),
        )
    else:
        nodes, degree, least = _EFFORT if size <= _MANY else _LESS_EFFORT
        window = windows(losses, min(nodes, size))
        first, second = near_pairs(problem, degree)
        program = windowed_program(problem, losses, window, first, second, least)
        optimum = solve_cones(program, gap, deadline, say)
        table, flows = lifted(problem, program, window, optimum)
    weights = problem.weights if problem.weights is not None else np.maximum(optimum.weights, 0.0)
    return Solved(table, flows, weights, optimum.upper, optimum.steps)


def lifted(problem: Problem, program: ConeProgram, window: Places, optimum: ConeOptimum) -> tuple[Floats, Floats]:
    """The table at all inputs, and flows on all pairs: those of blocks, and of inputs to what they are tied to."""
    outputs = len(window)
    table = np.zeros((program.count, outputs))
    at = np.arange(outputs)[:, None]
    table[program.inputs, at] = program.share * optimum.values[at, program.node]
    table[window, at] = optimum.values
    prior = optimum.weights if problem.weights is None else problem.weights
    one, other = (window[program.block, part] for part in (program.first, program.second))
    inner = np.stack([program.block, one, other, optimum.flow], axis=1)
    # an input's own reduced cost goes to the node it is tied to
    left = prior[program.inputs] * program.loss - optimum.rows[program.inputs]
    tied = window[at, program.node]
    amounts = np.maximum(left, 0.0) * program.share * (1 - _HAIR)
    outer = np.stack([np.broadcast_to(at, tied.shape), tied, program.inputs, amounts], axis=2).reshape(-1, 4)
    outer = outer[outer[:, 1] != outer[:, 2]]
    return table, np.concatenate([inner, outer])


def proven(problem: Problem, losses: Floats, weights: Floats, flows: Floats) -> float:
    """What flows prove of these losses, in doubles."""
    return float(flows_left(pairs_of(problem).at_most, losses, weights, flows).min(axis=1).sum() / weights.sum())


def thinned(problem: Problem, gap: float, losses: Floats, weights: Floats, flows: Floats) -> Floats:
    """The flows without those that hardly matter for such a gap, to ten digits: files hold them."""
    flows = flows[flows[:, 3] > 0]
    epsilons = pairs_of(problem).at_most
    whole = flows[:, 1].astype(np.intp), flows[:, 2].astype(np.intp)
    size = flows[:, 3] * np.exp(epsilons[whole])

    best = proven(problem, losses, weights, flows)
    scale = float((weights[:, None] * losses).max())
    for share in _THIN:
        part = flows[size > share * scale].copy()
        part[:, 3] = _in_digits(part[:, 3])
        if best - proven(problem, losses, weights, part) <= _LOST * gap * best:
            return part
    return flows


def _in_digits(values: Floats) -> Floats:
    with np.errstate(divide="ignore"):
        places = _DIGITS - 1 - np.floor(np.log10(np.maximum(values, 1e-290)))
    unit = 10.0**places
    return np.asarray(np.round(values * unit) / unit)
