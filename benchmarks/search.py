"""The m-piece search by the reduction to one scalar, at the most pieces the chapter reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import mechdesign as md
from benchmarks.anchors import ON_A_GRID, highs, on_a_grid
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.words.losses import Loss

PIECES = 19
TURNS = 5
TARGET = Target(seconds=1.0)


def two_valleys() -> md.Custom:
    """A loss with two minima. Each call makes a new one, so that nothing remembered of the last run helps."""
    return md.Custom(
        lambda y, x: np.minimum(np.abs(y - x), 0.1 + np.abs(y - (1 - x))), "two valleys", lambda x: (x, 1 - x)
    )


def rows() -> Iterator[Row]:
    for make in (md.Absolute, md.Squared, two_valleys):
        for epsilon in (1.0, 4.0):
            ours = medians({"ours": partial(_search, epsilon, make)}, TURNS)["ours"]
            theirs, stopped = highs(on_a_grid(make(), epsilon))
            name = f"reduction, m = {PIECES}, {make().name}, eps = {epsilon:g}"
            yield Row(name, ON_A_GRID, ours, theirs, TARGET, stopped=stopped)


def _search(epsilon: float, make: Callable[[], Loss]) -> object:
    among = md.Piecewise(pieces=PIECES)
    return md.solve(md.Problem(inputs=(0, 1), loss=make(), privacy=md.Pure(epsilon), among=among))
