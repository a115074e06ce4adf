"""Optima with an epsilon for each pair, proofs included, beside the compact program with a row for every pair.

Square grids with unit spacing, eps = 1 a unit, reports on the grid, uniform prior. The compact program of the 5 x 5
grid has 625 variables and 10 000 rows; that of 20 x 20 would have 160 000 and tens of millions: never built.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import Highs, LinearProgram, Solution
from scipy.sparse import csr_array, eye_array, kron, vstack

from benchmarks.clock import Task, measured, medians
from benchmarks.rows import Row, Target
from mechdesign.design.pairwise import Distances, PairwiseProblem, optimal_pairwise
from mechdesign.pairs import Metric, irreducible

SIZES = {10: (1e-6, Target(seconds=30.0)), 20: (1e-3, Target(seconds=180.0))}
SMALL = 5


def grid(size: int, gap: float) -> PairwiseProblem:
    places = [(i, j) for i in range(size) for j in range(size)]
    return PairwiseProblem(Metric(places, 1.0), Distances(), gap=gap)


def compact_program(problem: PairwiseProblem) -> LinearProgram:
    """``minimise sum p loss q`` with a row for each irreducible pair and output."""
    first, second = irreducible(problem.privacy)
    size, outputs = problem.losses_up.shape
    at = np.arange(first.size)
    limits = np.exp(problem.privacy.epsilons[first, second])
    shape = first.size, size
    pairs = csr_array((limits, (at, second)), shape) - csr_array((np.ones(at.size), (at, first)), shape)
    rows = kron(pairs, eye_array(outputs))
    sums = kron(eye_array(size), np.ones((1, outputs)))
    least = np.concatenate([np.zeros(rows.shape[0]), np.ones(size)])
    most = np.concatenate([np.full(rows.shape[0], math.inf), np.ones(size)])
    assert problem.prior is not None
    cost = (problem.prior[:, None] * problem.losses_up).ravel()
    return LinearProgram.of(cost, vstack([rows, sums], format="csr"), least, most, lower=0)


def rows(sizes: tuple[int, ...] = tuple(SIZES)) -> Iterator[Row]:
    small = grid(SMALL, 1e-6)
    program = compact_program(small)
    _require_same_value(program, small)
    ours = medians({"cones": partial(optimal_pairwise, small)}, 3)["cones"]
    compact = measured(partial(_solved, program))
    name = f"metric optimum with its proof, {SMALL} x {SMALL}, to 1e-6"
    yield Row(name, "the compact program", ours, compact, Target(ratio=0.5))
    for size in sizes:
        gap, target = SIZES[size]
        problem = grid(size, gap)
        tasks: dict[str, Task] = {"sort": partial(np.sort, problem.losses_up)}
        yardstick = medians(tasks, 3)["sort"]
        took = measured(partial(optimal_pairwise, problem))
        name = f"metric optimum with its proof, {size} x {size}, to {gap:g}"
        yield Row(name, "numpy, sorting its losses", took, yardstick, target)


def _solved(program: LinearProgram) -> Solution:
    return Highs().solve(program).require_optimal()


def _require_same_value(program: LinearProgram, problem: PairwiseProblem) -> None:
    value = _solved(program).objective
    certificate = optimal_pairwise(problem).certificate
    if value is None or not certificate.lower - 1e-7 <= value <= certificate.upper + 1e-7:
        raise AssertionError(f"{value!r} is not within the certified [{certificate.lower!r}, {certificate.upper!r}]")
