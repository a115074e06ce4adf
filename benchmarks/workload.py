"""Workloads: how long the certified optimum takes, proof included."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.design.information import GaussianLocation, InformationProblem, optimal_information
from mechdesign.design.workload import Marginals, Mean, Parity, Prefix, Ranges, WorkloadProblem, optimal_workload

YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is


def rows() -> Iterator[Row]:
    unsorted = np.random.default_rng(20240517).random(10**5)
    problems = {
        "prefix, 8 types, gap 1e-6": (WorkloadProblem(1.0, Prefix(8), gap=1e-6), Target(seconds=2.0)),
        "all ranges, 12 types, gap 1e-5": (WorkloadProblem(1.0, Ranges(12), gap=1e-5), Target(seconds=10.0)),
        "prefix, 32 types, gap 1e-2": (WorkloadProblem(1.0, Prefix(32), gap=1e-2), Target(seconds=60.0)),
        "mean, 128 types, gap 1e-5": (WorkloadProblem(1.0, Mean(np.linspace(-1, 1, 128)), gap=1e-5), Target()),
        "mean, 512 types, gap 1e-6": (
            WorkloadProblem(1.0, Mean(np.linspace(-1, 1, 512)), gap=1e-6),
            Target(seconds=10.0),
        ),
        "tables of 2 of 8 x 8 x 8, gap 2e-3": (
            WorkloadProblem(1.0, Marginals((8, 8, 8), 2), gap=2e-3),
            Target(seconds=60.0),
        ),
        "parities of 2 of 10 bits, gap 3e-3": (WorkloadProblem(1.0, Parity(10, 2), gap=3e-3), Target(seconds=60.0)),
    }
    searches = {name: partial(optimal_workload, problem) for name, (problem, _) in problems.items()}
    model = InformationProblem(3.0, GaussianLocation(40))
    searches["information, 40 cells"] = partial(optimal_information, model)
    times = medians({"sort": lambda: np.sort(unsorted), **searches}, 1)
    yardstick = times.pop("sort")
    for name, seconds in times.items():
        target = problems[name][1] if name in problems else Target(seconds=2.0)
        yield Row(f"workload: {name}", YARDSTICK, seconds, yardstick, target)
