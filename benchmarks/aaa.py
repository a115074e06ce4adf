"""Additive noise: the certified optimum at the size of the paper and at the one it recommends, and perturbing data."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from mechdesign_solvers import LinearProgram

from benchmarks.anchors import highs
from benchmarks.clock import medians
from benchmarks.rows import Row, Target
from benchmarks.unbiased import compact_program
from mechdesign import Average, Design, OnGrid, Problem, Pure, Squared
from mechdesign.mechanisms.catalogue import SYMMETRIC
from mechdesign.methods.grid_prior import grid_weights
from mechdesign.methods.registry import solve
from mechdesign.words.priors import Prior, beta, exponential, normal

GAP = 1e-4
TURNS = 2
SIZES = {(100, 300): Target(seconds=10.0, megabytes=1000.0), (16, 64): Target(seconds=0.3)}
PRIORS = (normal(0, 0.1, SYMMETRIC), exponential(6, SYMMETRIC), beta(0.5, 0.5, SYMMETRIC))
USERS = 10**6
USERS_TARGET = Target(seconds=1.0)
YARDSTICK = "HiGHS, compact program, N = 16, M = 64, no proof"
UNIFORMS = "numpy, 10^6 uniforms"


def rows() -> Iterator[Row]:
    problems = {
        f"additive, N = {bins}, M = {reach}, {prior.name}, eps = {epsilon:g}": (epsilon, prior, bins, reach)
        for bins, reach in SIZES
        for prior in PRIORS
        for epsilon in (1.0, 4.0)
    }
    searches = {name: partial(_search, *problem) for name, problem in problems.items()}
    times = medians(searches, TURNS)
    for name, taken in times.items():
        epsilon, prior, *grid = problems[name]
        theirs, stopped = highs(_program(epsilon, prior))
        yield Row(name, YARDSTICK, taken, theirs, SIZES[tuple(grid)], stopped=stopped)
    yield _perturbing(np.random.default_rng(20240517))


def _search(epsilon: float, prior: Prior, bins: int, reach: int) -> Design:
    words = {"inputs": SYMMETRIC, "loss": Squared(), "criterion": Average(prior), "among": OnGrid(bins, reach)}
    return solve(Problem(privacy=Pure(epsilon), **words), gap=GAP)


def _program(epsilon: float, prior: Prior) -> LinearProgram:
    """Unbiased laws of the edges of 16 bins, on outputs up to 64 widths away: a variable for each edge and output."""
    bins, reach = min(SIZES)
    edges = np.linspace(-1, 1, bins + 1)
    outputs = 2 / bins * np.arange(-reach, reach + 1)
    weights = grid_weights(prior, SYMMETRIC, edges.size)
    return compact_program(edges, weights, math.exp(epsilon), outputs)


def _perturbing(rng: np.random.Generator) -> Row:
    mechanism = _search(1.0, PRIORS[0], 100, 300).mechanism
    values = rng.uniform(-1, 1, USERS)
    times = medians({"here": lambda: mechanism.sample(values, rng), "uniforms": lambda: rng.random(USERS)}, TURNS)
    return Row(f"additive, {USERS} values perturbed", UNIFORMS, times["here"], times["uniforms"], USERS_TARGET)
