"""Optima over all reports of the plane, proofs included, beside the same with reports at the places only.

Square grids with unit spacing, eps = 1 a unit, uniform prior, mean Euclidean distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.clock import measured
from benchmarks.pairs import grid
from benchmarks.rows import Row, Target
from mechdesign.design.pairwise import InPlane, PairwiseProblem, optimal_pairwise

SIZES = {3: Target(seconds=30.0), 5: Target(seconds=180.0)}
GAP = 1e-3


def rows() -> Iterator[Row]:
    for size, target in SIZES.items():
        given = grid(size, GAP)
        free = PairwiseProblem(given.privacy, InPlane(), gap=GAP)
        there, anywhere = (measured(partial(optimal_pairwise, problem)) for problem in (given, free))
        name = f"metric optimum over the plane with its proof, {size} x {size}, to {GAP:g}"
        yield Row(name, "reports at the places only", anywhere, there, target)
