"""A million locations by TraCS, and what one location costs the rivals, all in one run.

The chapter's table 6.2 has 0.05 ms a location for TraCS and 6 to 146 ms for the rivals on 7,798 points; here the rivals
work on 60 x 60 points, vectorised like everything else.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.clock import Task, medians
from benchmarks.rows import Row, Target
from mechdesign.studies.places import (
    ATP,
    Paths,
    Rectangle,
    exponential,
    grid_points,
    ngram,
    plane_design,
    staircase,
    tracs_c,
    tracs_d,
    uniform_paths,
)
from mechdesign.studies.places.tracs import PathMechanism

SQUARE = Rectangle(0, 1, 0, 1)
EPSILON = 4.0
PATHS, LENGTH, FEW = 10_000, 100, 100
TURNS = 3


def rows() -> Iterator[Row]:
    many = uniform_paths(SQUARE, PATHS, LENGTH, np.random.default_rng(1))
    few = uniform_paths(SQUARE, FEW, LENGTH, np.random.default_rng(1))
    points = grid_points(SQUARE, 60)
    fast: dict[str, PathMechanism] = {
        "TraCS-C": tracs_c(SQUARE, EPSILON),
        "TraCS-D": tracs_d(SQUARE, EPSILON),
        "TraCS-C, certified": tracs_c(SQUARE, EPSILON, "certified-uniform"),
        "the certified plane": plane_design(SQUARE, EPSILON),
    }
    slow: dict[str, PathMechanism] = {
        "L-SRR": staircase(points, EPSILON),
        "exponential": exponential(points, EPSILON),
        "NGram": ngram(points, EPSILON),
        "ATP": ATP(points, EPSILON),
    }

    def reporting(mechanism: PathMechanism, paths: Paths) -> Task:
        return partial(mechanism.perturb, paths, np.random.default_rng(2))

    uniform = np.random.default_rng(3)
    tasks: dict[str, Task] = {"uniforms": lambda: uniform.random((PATHS * LENGTH, 4))}
    tasks |= {name: reporting(mechanism, many) for name, mechanism in fast.items()}
    times = medians(tasks, TURNS)
    for name in fast:
        target = Target(seconds=1.0)
        yield Row(f"10^6 locations by {name}", "4 10^6 uniforms", times[name], times["uniforms"], target)
    against = times["TraCS-C"] / (PATHS * LENGTH)
    for name, taken in medians({name: reporting(m, few) for name, m in slow.items()}, TURNS).items():
        yield Row("a location by TraCS-C", f"one by {name}, 3600 points", against, taken / (FEW * LENGTH))
