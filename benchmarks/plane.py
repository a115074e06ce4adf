"""Optima over all reports of the plane, proofs included, beside the same with reports at the places only.

Square grids with unit spacing, eps = 1 a unit, uniform prior, mean Euclidean distance.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from benchmarks.clock import measured
from benchmarks.pairs import grid
from benchmarks.rows import Row, Target
from mechdesign.methods.registry import solve
from mechdesign.values.declare import evolved
from mechdesign.words.classes import InPlane

SIZES = {3: Target(seconds=30.0), 5: Target(seconds=180.0)}
GAP = 1e-3


def rows() -> Iterator[Row]:
    for size, target in SIZES.items():
        given = grid(size)
        free = evolved(given, among=InPlane())
        there, anywhere = (measured(partial(solve, problem, gap=GAP)) for problem in (given, free))
        name = f"metric optimum over the plane with its proof, {size} x {size}, to {GAP:g}"
        yield Row(name, "reports at the places only", anywhere, there, target)
