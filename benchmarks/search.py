"""The m-piece search by the reduction to one scalar, at the most pieces the chapter reports."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import mechdesign as md
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.losses import Loss

PIECES = 19
TURNS = 5
TARGET = Target(seconds=1.0)
YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is


def two_valleys() -> md.Custom:
    """A loss with two minima. Each call makes a new one, so that nothing remembered of the last run helps."""
    return md.Custom(
        lambda y, x: np.minimum(np.abs(y - x), 0.1 + np.abs(y - (1 - x))), "two valleys", lambda x: (x, 1 - x)
    )


def rows() -> Iterator[Row]:
    unsorted = np.random.default_rng(20240517).random(10**5)
    searches: dict[str, Callable[[], object]] = {
        f"{make().name}, eps = {epsilon:g}": partial(_search, epsilon, make)
        for make in (md.Absolute, md.Squared, two_valleys)
        for epsilon in (1.0, 4.0)
    }
    times = medians({"sort": lambda: np.sort(unsorted), **searches}, TURNS)
    yardstick = times.pop("sort")
    for name, taken in times.items():
        yield Row(f"reduction, m = {PIECES}, {name}", YARDSTICK, taken, yardstick, TARGET)


def _search(epsilon: float, make: Callable[[], Loss]) -> object:
    return md.optimal_piecewise(md.PiecewiseProblem(epsilon, make(), pieces=PIECES))
