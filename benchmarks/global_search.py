"""The same search by a global solver: SCIP proves m = 3 to a relative gap of 1e-6."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import mechdesign as md
from benchmarks.clock import measured, medians
from benchmarks.rows import Row, Target

PIECES = 3
TARGET = Target(seconds=60.0)
PATIENCE = 90.0  # past the target, so that a miss is seen by how much


def rows() -> Iterator[Row]:
    for epsilon in (1.0, 2.0, 4.0):
        among = md.Piecewise(pieces=PIECES)
        problem = md.Problem(inputs=md.Interval(0, 1), loss=md.Absolute(), privacy=md.Pure(epsilon), among=among)
        reduction = medians({"reduction": partial(md.solve, problem)}, turns=3)["reduction"]
        proven = measured(partial(_prove, problem))
        yield Row(f"SCIP, m = {PIECES}, absolute, eps = {epsilon:g}", "the reduction", proven, reduction, TARGET)


def _prove(problem: md.Problem) -> None:
    try:
        md.solve(problem, PATIENCE, method="piecewise_program")
    except md.NoAnswer:
        return  # stopped at its limit: the seconds say so
