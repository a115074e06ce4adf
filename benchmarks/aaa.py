"""Additive noise: the certified optimum at the size of the paper and at the one it recommends, and perturbing data."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from mechdesign.design.additive import AdditiveProblem, optimal_additive
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.priors import beta, exponential, normal

GAP = 1e-4
TURNS = 2
SIZES = {(100, 300): Target(seconds=10.0, megabytes=1000.0), (16, 64): Target(seconds=0.3)}
PRIORS = (normal(0, 0.1, SYMMETRIC), exponential(6, SYMMETRIC), beta(0.5, 0.5, SYMMETRIC))
USERS = 10**6
USERS_TARGET = Target(seconds=1.0)
YARDSTICK = "numpy, sorting 10^5 numbers"  # a fixed load that says how fast this machine is
UNIFORMS = "numpy, 10^6 uniforms"


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(20240517)
    unsorted = rng.random(10**5)
    problems = {
        f"additive, N = {bins}, M = {reach}, {prior.name}, eps = {epsilon:g}": AdditiveProblem(
            epsilon, prior, bins=bins, reach=reach, gap=GAP
        )
        for bins, reach in SIZES
        for prior in PRIORS
        for epsilon in (1.0, 4.0)
    }
    searches = {name: partial(optimal_additive, problem) for name, problem in problems.items()}
    times = medians({"sort": lambda: np.sort(unsorted), **searches}, TURNS)
    yardstick = times.pop("sort")
    for name, taken in times.items():
        problem = problems[name]
        yield Row(name, YARDSTICK, taken, yardstick, SIZES[problem.bins, problem.reach])
    yield _perturbing(rng)


def _perturbing(rng: np.random.Generator) -> Row:
    mechanism = optimal_additive(AdditiveProblem(1.0, PRIORS[0], bins=100, reach=300, gap=GAP)).mechanism
    values = rng.uniform(-1, 1, USERS)
    times = medians({"here": lambda: mechanism.sample(values, rng), "uniforms": lambda: rng.random(USERS)}, TURNS)
    return Row(f"additive, {USERS} values perturbed", UNIFORMS, times["here"], times["uniforms"], USERS_TARGET)
