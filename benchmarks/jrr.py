"""Joint randomised response: choosing pairs, choosing groups of 32, and a thousand collections of two million users."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.collect import simulate_estimates
from mechdesign.design import Design, JointProblem, optimal_joint
from mechdesign.exact.collusion import known_truth
from mechdesign.mechanisms.joint import likelihood_rows

PAIRS = JointProblem(1.0, 10000, 0.033, colluders=500)
GROUPS = JointProblem(1.0, 9984, 0.033, group=32)
CAPPED = JointProblem(1.0, 9984, 0.033, group=32, caps=(1.0,))
COLLUDING = JointProblem(1.0, 10000, 0.033, colluders=500, group=8)
LAW = optimal_joint(PAIRS).mechanism
USERS, COUNT, TRIALS = 2 * 10**6, 66000, 1000
TURNS = 5
YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is


def rows() -> Iterator[Row]:
    unsorted = np.random.default_rng(20240517).random(10**5)
    times = medians(
        {
            "sort": lambda: np.sort(unsorted),
            "pairs": lambda: _choose(PAIRS),
            "groups": lambda: _choose(GROUPS),
            "capped": lambda: _choose(CAPPED),
            "colluding": lambda: _choose(COLLUDING),
            "collections": lambda: simulate_estimates(LAW, USERS, COUNT, TRIALS, np.random.default_rng(1)),
        },
        TURNS,
    )
    sort = times["sort"]
    yield Row("pairs, 500 colluders", YARDSTICK, times["pairs"], sort, Target(seconds=0.05))
    yield Row("groups of 32", YARDSTICK, times["groups"], sort, Target(seconds=1.0))
    yield Row("groups of 32, one partner's eps capped", YARDSTICK, times["capped"], sort, Target(seconds=1.0))
    yield Row("groups of 8, 500 colluders, gap 1e-3", YARDSTICK, times["colluding"], sort, Target(seconds=1.0))
    yield Row("1000 collections of 2 10^6 users", YARDSTICK, times["collections"], sort, Target(seconds=10.0))


def _choose(problem: JointProblem) -> Design:
    """From scratch: nothing remembered of the last run helps."""
    likelihood_rows.cache_clear()
    known_truth.cache_clear()
    return optimal_joint(problem)
