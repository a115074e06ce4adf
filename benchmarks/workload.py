"""Workloads: how long the certified optimum takes, proof included."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import LinearProgram

import mechdesign as md
from benchmarks.anchors import BY_GRADIENTS, GRADIENTS, by_gradients, highs
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.words.workloads import Marginals, Mean, Parity, Prefix, Ranges

SHORT, FEW = 5, 100
"""Of the gradients' steps, those that are taken where there are more types than a hundred."""


def rows() -> Iterator[Row]:
    problems = {
        "prefix, 8 types, gap 1e-6": (1.0, Prefix(8), 1e-6, Target(seconds=2.0)),
        "all ranges, 12 types, gap 1e-5": (1.0, Ranges(12), 1e-5, Target(seconds=10.0)),
        "prefix, 32 types, gap 1e-2": (1.0, Prefix(32), 1e-2, Target(seconds=60.0)),
        "mean, 128 types, gap 1e-5": (1.0, Mean(np.linspace(-1, 1, 128)), 1e-5, Target()),
        "mean, 512 types, gap 1e-6": (1.0, Mean(np.linspace(-1, 1, 512)), 1e-6, Target(seconds=10.0)),
        "tables of 2 of 8 x 8 x 8, gap 2e-3": (1.0, Marginals((8, 8, 8), 2), 2e-3, Target(seconds=60.0)),
        "parities of 2 of 10 bits, gap 3e-3": (1.0, Parity(10, 2), 3e-3, Target(seconds=60.0)),
    }
    for name, (epsilon, asked, gap, target) in problems.items():
        problem = md.Problem(loss=asked, privacy=md.Pure(epsilon), criterion=md.Average())
        queries = asked.matrix
        theirs = by_gradients(queries, problem.epsilon, SHORT if queries.shape[1] > FEW else GRADIENTS)
        taken = medians({"ours": partial(md.solve, problem, gap=gap)}, 1)["ours"]
        yield Row(f"workload: {name}", BY_GRADIENTS, taken, theirs, target)
    yield _information()


def _information() -> Row:
    """Beside a linear program over the reports that say whether the observation lies in an interval of cells."""
    model = md.models.GaussianLocation(40)
    problem = md.Problem(loss=model, privacy=md.Pure(3.0), criterion=md.Average())
    chances, slopes = model.chances, model.slopes
    size, ratio = chances.size, math.exp(problem.epsilon)
    patterns = np.array([[a <= x <= b for x in range(size)] for a in range(size) for b in range(a, size)])
    rows = np.where(patterns, ratio, 1.0)
    gains = (rows @ slopes) ** 2 / (rows @ chances)
    taken = medians({"ours": partial(md.solve, problem)}, 1)["ours"]
    theirs, stopped = highs(LinearProgram.of(-gains, rows.T, 1.0, 1.0, lower=0))
    name = "workload: information, 40 cells"
    return Row(name, "HiGHS, intervals of cells, no bound", taken, theirs, Target(seconds=2.0), stopped=stopped)
