"""Cutting planes over the base measure beside the compact program, which has every ``q[x, y]`` as a variable.

Worst absolute error on [0, 1] at eps = 2, inputs and outputs on one grid of n points: both solve the same program, and
cutting planes are charged for the proof as well. HiGHS (which chooses its own method) and Clarabel solve the compact
program once. At n = 241 HiGHS takes minutes: it is stopped after one, and the ratio is then an upper bound of what it
would be. For 625 points in the plane the yardstick is the compact program of 100 of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import Highs, LinearProgram, Solution

from benchmarks.anchors import clarabel, grid_program, highs
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.methods.registry import solve
from mechdesign.words.finite_losses import euclidean
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

EPSILON = 2.0
SIZES = (41, 81, 241)
TARGETS = {241: Target(ratio=1 / 500)}
PLANE = Target(seconds=2.0)
TURNS = 3


def rows() -> Iterator[Row]:
    yield plane()
    for size in SIZES:
        losses = euclidean(np.linspace(0, 1, size))
        program, problem = grid_program(losses, EPSILON), Problem(loss=losses, privacy=Pure(EPSILON))
        if size == min(SIZES):
            _require_same_value(program, problem)
        ours = medians({"planes": partial(solve, problem)}, TURNS)["planes"]
        name, target = f"finite optimum with its proof, n = {size}", TARGETS.get(size, Target())
        for solver, race in (("HiGHS", highs), ("Clarabel", clarabel)):
            compact, stopped = race(program)
            yield Row(
                name,
                f"{solver}, compact program",
                ours,
                compact,
                target if race is highs else Target(),
                stopped=stopped,
            )


def plane() -> Row:
    """625 points on a square grid, Euclidean loss, eps = 2."""
    problem = Problem(loss=_square(25), privacy=Pure(EPSILON))
    ours = medians({"planes": partial(solve, problem)}, TURNS)["planes"]
    compact, stopped = highs(grid_program(_square(10), EPSILON))
    name = "finite optimum with its proof, 625 points in the plane"
    return Row(name, "HiGHS, compact program of 100 points", ours, compact, PLANE, stopped=stopped)


def _square(side: int) -> np.ndarray:
    ticks = np.linspace(0, 1, side)
    return euclidean([(a, b) for a in ticks for b in ticks])


def _solved(program: LinearProgram) -> Solution:
    return Highs().solve(program).require_optimal()


def _require_same_value(program: LinearProgram, problem: Problem) -> None:
    value = _solved(program).objective
    certificate = solve(problem).certificate
    if value is None or not certificate.lower - 1e-7 <= value <= certificate.upper + 1e-7:
        raise AssertionError(f"{value!r} is not within the certified [{certificate.lower!r}, {certificate.upper!r}]")
