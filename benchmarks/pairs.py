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

from benchmarks.anchors import clarabel, highs
from benchmarks.clock import measured, medians
from benchmarks.peers import peers
from benchmarks.rows import Row, Target
from mechdesign.methods.registry import solve
from mechdesign.words.criteria import Average
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric, irreducible
from mechdesign.words.problem import Problem

SIZES = {10: (1e-6, Target(seconds=30.0)), 20: (1e-3, Target(seconds=180.0))}
SMALL = 5
LARGEST_OF_QIF = 7
"""10 x 10 take it minutes."""


def grid(size: int) -> Problem:
    places = [(i, j) for i in range(size) for j in range(size)]
    return Problem(loss=Distances(), privacy=Metric(places, 1.0), criterion=Average())


def compact_program(problem: Problem) -> LinearProgram:
    """``minimise sum p loss q`` with a row for each irreducible pair and output."""
    assert isinstance(problem.privacy, Metric)
    first, second = irreducible(problem.privacy)
    size, outputs = problem.table.up.shape
    at = np.arange(first.size)
    limits = np.exp(problem.privacy.epsilons[first, second])
    shape = first.size, size
    pairs = csr_array((limits, (at, second)), shape) - csr_array((np.ones(at.size), (at, first)), shape)
    rows = kron(pairs, eye_array(outputs))
    sums = kron(eye_array(size), np.ones((1, outputs)))
    least = np.concatenate([np.zeros(rows.shape[0]), np.ones(size)])
    most = np.concatenate([np.full(rows.shape[0], math.inf), np.ones(size)])
    assert problem.weights is not None
    cost = (problem.weights[:, None] * problem.table.up).ravel()
    return LinearProgram.of(cost, vstack([rows, sums], format="csr"), least, most, lower=0)


def rows(sizes: tuple[int, ...] = tuple(SIZES)) -> Iterator[Row]:
    small = grid(SMALL)
    program = compact_program(small)
    _require_same_value(program, small)
    ours = medians({"cones": partial(solve, small)}, 3)["cones"]
    theirs, _ = highs(program)
    name = f"metric optimum with its proof, {SMALL} x {SMALL}, to 1e-6"
    yield Row(name, "HiGHS, compact program", ours, theirs, Target(ratio=0.5))
    yield Row(name, "Clarabel, compact program", ours, clarabel(program)[0])
    yardstick = f"HiGHS, compact program, {SMALL} x {SMALL}"
    with peers(("qif",)) as published:
        if published is not None:
            yield Row(name, "qif", ours, measured(published.task("qif", side=SMALL, epsilon=1.0)))
            yardstick = f"qif, {LARGEST_OF_QIF} x {LARGEST_OF_QIF}"
            theirs = measured(published.task("qif", side=LARGEST_OF_QIF, epsilon=1.0))
    for size in sizes:
        gap, target = SIZES[size]
        took = measured(partial(solve, grid(size), gap=gap))
        yield Row(f"metric optimum with its proof, {size} x {size}, to {gap:g}", yardstick, took, theirs, target)


def _solved(program: LinearProgram) -> Solution:
    return Highs().solve(program).require_optimal()


def _require_same_value(program: LinearProgram, problem: Problem) -> None:
    value = _solved(program).objective
    certificate = solve(problem).certificate
    if value is None or not certificate.lower - 1e-7 <= value <= certificate.upper + 1e-7:
        raise AssertionError(f"{value!r} is not within the certified [{certificate.lower!r}, {certificate.upper!r}]")
