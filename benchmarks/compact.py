"""Cutting planes over the base measure beside the compact program, which has every ``q[x, y]`` as a variable.

Worst absolute error on [0, 1] at eps = 2, inputs and outputs on one grid of n points: both solve the same program, and
cutting planes are charged for the proof as well. HiGHS chooses its own method for the compact program, which is solved
once. At n = 241 it takes minutes: it is stopped after one, and the ratio is then an upper bound of what it would be.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import Highs, Limits, LinearProgram, Solution, Status
from scipy.sparse import csr_array, eye_array, hstack, kron, vstack

from benchmarks.clock import Measured, Task, measured, medians
from benchmarks.rows import Row, Target
from mechdesign.design.finite import FiniteProblem, euclidean, optimal_finite

EPSILON = 2.0
SIZES = (41, 81, 241)
PATIENCE = 60.0  # seconds for the compact program
TARGETS = {241: Target(ratio=1 / 500)}
PLANE = Target(seconds=2.0)
TURNS = 3


def compact_program(losses: np.ndarray, epsilon: float) -> LinearProgram:
    """``minimise t`` over ``q, mu, t`` with ``mu <= q <= e^eps mu``, rows that sum to one and errors at most t."""
    inputs, outputs = losses.shape
    size = inputs * outputs
    masses = kron(np.ones((inputs, 1)), eye_array(outputs))
    laws = eye_array(size)
    above = hstack([laws, -masses, csr_array((size, 1))])
    below = hstack([-laws, math.exp(epsilon) * masses, csr_array((size, 1))])
    sums = hstack([kron(eye_array(inputs), np.ones((1, outputs))), csr_array((inputs, outputs + 1))])
    row_of = np.repeat(np.arange(inputs), outputs)
    errors = csr_array((-losses.ravel(), (row_of, np.arange(size))), shape=(inputs, size))
    worst = hstack([errors, csr_array((inputs, outputs)), csr_array(np.ones((inputs, 1)))])
    least = np.concatenate([np.zeros(2 * size), np.ones(inputs), np.zeros(inputs)])
    most = np.where(np.arange(least.size) < 2 * size, math.inf, np.where(least > 0, 1.0, math.inf))
    cost = np.concatenate([np.zeros(size + outputs), [1.0]])
    return LinearProgram.of(cost, vstack([above, below, sums, worst], format="csr"), least, most, lower=0)


def rows() -> Iterator[Row]:
    yield plane()
    for size in SIZES:
        losses = euclidean(np.linspace(0, 1, size))
        program, problem = compact_program(losses, EPSILON), FiniteProblem(EPSILON, losses)
        if size == min(SIZES):
            _require_same_value(program, problem)
        times = medians({"planes": partial(optimal_finite, problem)}, TURNS)
        compact, stopped = _raced(program)
        name = f"finite optimum with its proof, n = {size}"
        yield Row(name, "the compact program", times["planes"], compact, TARGETS.get(size, Target()), stopped=stopped)


def plane() -> Row:
    """625 points on a square grid, Euclidean loss, eps = 2."""
    ticks = np.linspace(0, 1, 25)
    losses = euclidean([(a, b) for a in ticks for b in ticks])
    problem = FiniteProblem(EPSILON, losses)
    tasks: dict[str, Task] = {"planes": partial(optimal_finite, problem), "sort": partial(np.sort, losses)}
    times = medians(tasks, TURNS)
    name = "finite optimum with its proof, 625 points in the plane"
    return Row(name, "numpy, sorting its losses", times["planes"], times["sort"], PLANE)


def _raced(program: LinearProgram) -> tuple[Measured, bool]:
    """What the compact program takes, and whether it was stopped."""
    stopped = False

    def solve() -> None:
        nonlocal stopped
        stopped = Highs().solve(program, Limits(seconds=PATIENCE)).status is not Status.OPTIMAL

    taken = measured(solve)
    return taken, stopped


def _solved(program: LinearProgram) -> Solution:
    return Highs().solve(program).require_optimal()


def _require_same_value(program: LinearProgram, problem: FiniteProblem) -> None:
    value = _solved(program).objective
    certificate = optimal_finite(problem).certificate
    if value is None or not certificate.lower - 1e-7 <= value <= certificate.upper + 1e-7:
        raise AssertionError(f"{value!r} is not within the certified [{certificate.lower!r}, {certificate.upper!r}]")
