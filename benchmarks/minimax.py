"""Certified optima on [0, 1]: eight worst cases of the reference together, one fine grid, a sweep beside one search,
and the average over a prior of many values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.design import MinimaxProblem, PriorProblem, minimax_sweep, optimal_minimax, optimal_prior
from mechdesign.losses import Absolute, Power
from mechdesign.priors import Atoms

REFERENCE = [MinimaxProblem(eps, Power(p), gap=1e-5) for p, eps in itertools.product((1.0, 2.0), (0.5, 1.0, 2.0, 4.0))]
FINE = MinimaxProblem(4.0, Absolute(), gap=1e-4, most_outputs=1025)
SWEEP = [MinimaxProblem(float(eps), Absolute(), gap=1e-4) for eps in np.linspace(0.5, 4, 20)]
VALUES = PriorProblem(2.0, Atoms.of_data(np.random.default_rng(2).random(1000)), Absolute())
TURNS = 2
MOST_MEGABYTES = 500.0
YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is


def rows() -> Iterator[Row]:
    unsorted = np.random.default_rng(20240517).random(10**5)
    times = medians(
        {
            "sort": lambda: np.sort(unsorted),
            "reference": lambda: [optimal_minimax(problem) for problem in REFERENCE],
            "fine": lambda: optimal_minimax(FINE),
            "one": lambda: optimal_minimax(SWEEP[-1]),
            "prior": lambda: optimal_prior(VALUES),
            "sweep": lambda: list(minimax_sweep(SWEEP)),
        },
        TURNS,
    )
    name, target = "eight reference rows at gap 1e-5", Target(seconds=10.0, megabytes=MOST_MEGABYTES)
    yield Row(name, YARDSTICK, times["reference"], times["sort"], target)
    yield Row(
        "up to 1025 outputs, eps = 4",
        YARDSTICK,
        times["fine"],
        times["sort"],
        Target(seconds=5.0, megabytes=MOST_MEGABYTES),
    )
    yield Row("prior of 1000 values, eps = 2", YARDSTICK, times["prior"], times["sort"], Target(seconds=1.0))
    yield Row("sweep of 20 eps from 0.5 to 4", "its last eps alone", times["sweep"], times["one"], Target(ratio=4.0))
