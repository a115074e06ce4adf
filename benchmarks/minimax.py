"""Certified optima on [0, 1]: eight worst cases of the reference together, one fine grid, a sweep beside one search,
and the average over a prior of many values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from benchmarks.anchors import GRID, ON_A_GRID, grid_program, highs, on_a_grid
from benchmarks.clock import Measured, medians
from benchmarks.rows import Row, Target
from mechdesign.methods import minimax_sweep
from mechdesign.methods.registry import solve
from mechdesign.words.criteria import Average
from mechdesign.words.domains import UNIT
from mechdesign.words.losses import Absolute, Power
from mechdesign.words.priors import Atoms
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from tests.methods.problems import numbers


def worst(epsilon: float, loss: Power) -> Problem:
    return Problem(inputs=UNIT, loss=loss, privacy=Pure(epsilon))


REFERENCE = [worst(eps, Power(p)) for p, eps in itertools.product((1.0, 2.0), (0.5, 1.0, 2.0, 4.0))]
FINE = worst(4.0, Absolute())
SWEEP = [worst(float(eps), Absolute()) for eps in np.linspace(0.5, 4, 20)]
VALUES = numbers(2.0, Absolute(), criterion=Average(Atoms.of_data(np.random.default_rng(2).random(1000))))
TURNS = 2
MOST_MEGABYTES = 500.0


def rows() -> Iterator[Row]:
    times = medians(
        {
            "reference": lambda: [solve(problem, gap=1e-5) for problem in REFERENCE],
            "fine": lambda: solve(FINE, gap=1e-4, most_outputs=1025),
            "one": lambda: solve(SWEEP[-1], gap=1e-4),
            "prior": lambda: solve(VALUES),
            "sweep": lambda: list(minimax_sweep(SWEEP, gap=1e-4)),
        },
        TURNS,
    )
    within = MOST_MEGABYTES
    eight = [highs(on_a_grid(problem.loss, problem.epsilon)) for problem in REFERENCE]
    yield _beside("eight reference rows at gap 1e-5", times["reference"], eight, Target(seconds=10.0, megabytes=within))
    fine = [highs(on_a_grid(FINE.loss, FINE.epsilon))]
    yield _beside("up to 1025 outputs, eps = 4", times["fine"], fine, Target(seconds=5.0, megabytes=within))
    ticks = np.linspace(0, 1, GRID)
    shares = np.histogram(VALUES.prior.points, GRID, (0.0, 1.0))[0] / VALUES.prior.points.size
    average = grid_program(abs(ticks[None, :] - ticks[:, None]), VALUES.epsilon, shares)
    yield _beside("prior of 1000 values, eps = 2", times["prior"], [highs(average)], Target(seconds=1.0))
    yield Row("sweep of 20 eps from 0.5 to 4", "its last eps alone", times["sweep"], times["one"], Target(ratio=4.0))


def _beside(name: str, ours: Measured, theirs: Sequence[tuple[Measured, bool]], target: Target) -> Row:
    seconds = sum(taken.seconds for taken, _ in theirs)
    return Row(name, ON_A_GRID, ours, Measured(seconds), target, stopped=any(stopped for _, stopped in theirs))
