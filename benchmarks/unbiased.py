"""The certified unbiased optimum: 129 inputs, and one program of it beside a general solver.

Two questions. How long does a search with 129 inputs take, and how much memory? And on given outputs, what does it gain
to know that the inputs are coupled through the base measure only?
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import Highs, LinearProgram
from mechdesign_solvers.interior import solve_laws
from numpy.typing import NDArray
from scipy import sparse
from threadpoolctl import threadpool_limits

from benchmarks.anchors import highs
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign import Average, Problem, Pure, Squared, Unbiased
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.methods.registry import solve
from mechdesign.words.priors import Prior, beta, exponential, normal

Floats = NDArray[np.float64]

INPUTS, GAP = 129, 1e-4
TURNS = 1
TARGET = Target(seconds=5.0, megabytes=500.0)
RACE_INPUTS, RACE_OUTPUTS, RACE_REACH, RACE_GAP = 33, 65, 2.2, 1e-7
PRIORS = (normal(0, 0.2, SYMMETRIC), exponential(6, SYMMETRIC), beta(0.5, 0.5, SYMMETRIC))
YARDSTICK = f"HiGHS, compact program, {RACE_INPUTS} inputs, {RACE_OUTPUTS} outputs, no proof"


def rows() -> Iterator[Row]:
    problems = {
        f"unbiased, {INPUTS} inputs, {prior.name}, eps = {epsilon:g}": (epsilon, prior)
        for prior in PRIORS
        for epsilon in (1.0, 4.0)
    }
    times = medians({name: partial(_search, *problem) for name, problem in problems.items()}, TURNS)
    for name, taken in times.items():
        theirs, stopped = highs(_program(*problems[name]))
        yield Row(name, YARDSTICK, taken, theirs, TARGET, stopped=stopped)
    for epsilon in (1.0, 4.0):
        worst = Problem(inputs=SYMMETRIC, loss=Squared(), privacy=Pure(epsilon), among=Unbiased())
        name = f"unbiased, worst case, eps = {epsilon:g}"
        taken = medians({name: partial(solve, worst, gap=GAP)}, TURNS)[name]
        theirs, stopped = highs(_program(epsilon, PRIORS[0]))
        yield Row(name, YARDSTICK, taken, theirs, TARGET, stopped=stopped)
    yield _race()


def _search(epsilon: float, prior: Prior) -> object:
    words = {"inputs": SYMMETRIC, "loss": Squared(), "criterion": Average(prior), "among": Unbiased()}
    return solve(Problem(privacy=Pure(epsilon), **words), gap=GAP, size=INPUTS)


def _program(epsilon: float, prior: Prior) -> LinearProgram:
    """The compact program at the size of the race."""
    reach = RACE_REACH / math.tanh(epsilon / 2)
    weights = grid_weights(prior, SYMMETRIC, RACE_INPUTS)
    outputs = np.linspace(-reach, reach, RACE_OUTPUTS)
    return compact_program(np.linspace(-1, 1, RACE_INPUTS), weights, math.exp(epsilon), outputs)


def _race() -> Row:
    """One program on given outputs, solved both ways to the same value."""
    epsilon = 2.0
    inputs = np.linspace(-1, 1, RACE_INPUTS)
    reach = RACE_REACH / math.tanh(epsilon / 2)
    outputs = np.linspace(-reach, reach, RACE_OUTPUTS)
    weights = grid_weights(normal(0, 0.2, SYMMETRIC), SYMMETRIC, RACE_INPUTS)
    compact = compact_program(inputs, weights, math.exp(epsilon), outputs)
    asked = inputs, weights, math.exp(epsilon), outputs, RACE_GAP
    here = solve_laws(*asked)
    there = Highs().solve(compact).require_optimal().objective
    assert there is not None
    if not here.lower * (1 - RACE_GAP) <= there <= here.upper * (1 + RACE_GAP):
        raise ArithmeticError(f"the values {here.upper} and {there} differ")
    with threadpool_limits(1, user_api="blas"):  # as in the search
        times = medians({"here": lambda: solve_laws(*asked), "there": lambda: Highs().solve(compact)}, TURNS)
    name = f"unbiased program, {RACE_INPUTS} inputs, {RACE_OUTPUTS} outputs"
    return Row(name, "HiGHS, compact program", times["here"], times["there"], Target(ratio=1.0))


def compact_program(inputs: Floats, weights: Floats, ratio: float, outputs: Floats) -> LinearProgram:
    """``mu <= q <= c mu``, rows that sum to one with mean x: a variable for each input and output, and one for mu."""
    count, size = inputs.size, outputs.size
    base, laws = sparse.vstack([sparse.identity(size)] * count), sparse.identity(count * size)
    each, none = sparse.identity(count), sparse.csr_array((count, size))
    matrix = sparse.vstack(
        [
            sparse.hstack([-base, laws]),
            sparse.hstack([ratio * base, -laws]),
            sparse.hstack([none, sparse.kron(each, np.ones((1, size)))]),
            sparse.hstack([none, sparse.kron(each, outputs[None, :])]),
        ]
    )
    costs = weights[:, None] * (outputs - inputs[:, None]) ** 2
    sides = np.concatenate([np.zeros(2 * count * size), np.ones(count), inputs])
    tops = np.concatenate([np.full(2 * count * size, math.inf), np.ones(count), inputs])
    return LinearProgram.of(np.concatenate([np.zeros(size), costs.ravel()]), sparse.csr_array(matrix), sides, tops, 0.0)
