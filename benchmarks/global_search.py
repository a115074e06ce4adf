"""The same search by a global solver: SCIP proves m = 3 to a relative gap of 1e-6."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import mechdesign as md
from benchmarks.clock import measured, medians
from benchmarks.rows import Row, Target
from mechdesign.methods.piecewise.program import search_pieces

PIECES = 3
TARGET = Target(seconds=60.0)
PATIENCE = 90.0  # past the target, so that a miss is seen by how much


def rows() -> Iterator[Row]:
    for epsilon in (1.0, 2.0, 4.0):
        problem = md.PiecewiseProblem(epsilon, pieces=PIECES)
        reduction = medians({"reduction": partial(md.optimal_piecewise, problem)}, turns=3)["reduction"]
        proven = measured(partial(_prove, problem))
        yield Row(f"SCIP, m = {PIECES}, absolute, eps = {epsilon:g}", "the reduction", proven, reduction, TARGET)


def _prove(problem: md.PiecewiseProblem) -> None:
    try:
        search_pieces(problem, PATIENCE)
    except md.NoAnswer:
        return  # stopped at its limit: the seconds say so
