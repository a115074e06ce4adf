"""What people run instead of this package: general solvers on compact programs, and short loops after a paper.

A compact program has every ``q[x, y]`` as a variable and a row for every pair that privacy couples. What it answers is
a double on a grid and has no proof; the searches of this package are charged for theirs as well.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mechdesign_solvers import Highs, Limits, LinearProgram, Status
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.clock import Measured, measured
from mechdesign.words.losses import Loss

Floats = NDArray[np.float64]

PATIENCE = 60.0
"""Seconds after which a solver is stopped."""

GRID = 81
ON_A_GRID = f"HiGHS, {GRID} x {GRID} grid, no proof"
GRADIENTS = 1000
BY_GRADIENTS = f"projected gradients, {GRADIENTS} steps, no bound"


def grid_program(losses: Floats, epsilon: float, prior: Floats | None = None) -> LinearProgram:
    """``mu <= q <= e^eps mu`` and rows that sum to one: the least worst loss, or the least average under a prior."""
    inputs, outputs = losses.shape
    size = inputs * outputs
    masses = sparse.kron(np.ones((inputs, 1)), sparse.eye_array(outputs))
    laws = sparse.eye_array(size)
    above = sparse.hstack([laws, -masses, sparse.csr_array((size, 1))])
    below = sparse.hstack([-laws, math.exp(epsilon) * masses, sparse.csr_array((size, 1))])
    each = sparse.kron(sparse.eye_array(inputs), np.ones((1, outputs)))
    sums = sparse.hstack([each, sparse.csr_array((inputs, outputs + 1))])
    row_of = np.repeat(np.arange(inputs), outputs)
    errors = sparse.csr_array((-losses.ravel(), (row_of, np.arange(size))), shape=(inputs, size))
    worst = sparse.hstack([errors, sparse.csr_array((inputs, outputs)), sparse.csr_array(np.ones((inputs, 1)))])
    least = np.concatenate([np.zeros(2 * size), np.ones(inputs), np.zeros(inputs)])
    most = np.where(np.arange(least.size) < 2 * size, math.inf, np.where(least > 0, 1.0, math.inf))
    cost = np.concatenate([np.zeros(size + outputs), [1.0]])
    if prior is not None:
        cost = np.concatenate([(prior[:, None] * losses).ravel(), np.zeros(outputs + 1)])
        least[2 * size + inputs :] = -math.inf
    return LinearProgram.of(cost, sparse.vstack([above, below, sums, worst], format="csr"), least, most, lower=0)


def on_a_grid(loss: Loss, epsilon: float) -> LinearProgram:
    """The worst case on [0, 1], inputs and outputs on one grid."""
    ticks = np.linspace(0, 1, GRID)
    return grid_program(loss(ticks[None, :], ticks[:, None]), epsilon)


def highs(program: LinearProgram) -> tuple[Measured, bool]:
    """What HiGHS takes, by the method that it chooses, and whether it was stopped."""
    stopped = False

    def solve() -> None:
        nonlocal stopped
        stopped = Highs().solve(program, Limits(seconds=PATIENCE)).status is not Status.OPTIMAL

    return measured(solve), stopped


def clarabel(program: LinearProgram) -> tuple[Measured, bool]:
    """What Clarabel takes, from the same program in its cones, and whether it was stopped."""
    import clarabel as solver

    fixed = program.row_lower == program.row_upper
    above, below = ~fixed & np.isfinite(program.row_upper), ~fixed & np.isfinite(program.row_lower)
    matrix = program.matrix
    stacked = sparse.vstack(
        [matrix[fixed], matrix[above], -matrix[below], -sparse.eye_array(program.columns)], format="csc"
    )
    side = np.concatenate([program.row_lower[fixed], program.row_upper[above], -program.row_lower[below]])
    side = np.concatenate([side, -program.lower])
    cones = [solver.ZeroConeT(int(fixed.sum())), solver.NonnegativeConeT(side.size - int(fixed.sum()))]
    settings = solver.DefaultSettings()
    settings.verbose, settings.time_limit = False, PATIENCE
    none = sparse.csc_matrix((program.columns, program.columns))
    answer: Any = None

    def solve() -> None:
        nonlocal answer
        answer = solver.DefaultSolver(none, program.cost, sparse.csc_matrix(stacked), side, cones, settings).solve()

    taken = measured(solve)
    return taken, str(answer.status) != "Solved"


def by_gradients(queries: Floats, epsilon: float, steps: int) -> Measured:
    """McKenna, Maity, Mazumdar and Miklau (2020), written after the paper: a channel by projected gradients.

    Four reports a type, even shares, equal least chances. So many of `GRADIENTS` steps are taken, and scaled up.
    """
    gram = queries.T @ queries
    reports = 4 * len(gram)
    least = (1 + math.exp(-epsilon)) / (2 * reports)
    top = math.exp(epsilon) * least

    def descend() -> None:
        rng = np.random.default_rng(1)
        channel = _projected(rng.uniform(least, top, (len(gram), reports)), least, top)
        value, gradient = _slope(channel, gram)
        step = least / abs(gradient).max()
        for _ in range(steps):
            ahead = _projected(channel - step * gradient, least, top)
            there, next_gradient = _slope(ahead, gram)
            if there < value:
                channel, value, gradient, step = ahead, there, next_gradient, 1.3 * step
            else:
                step /= 2

    return measured(descend) * (GRADIENTS / steps)


def _slope(channel: Floats, gram: Floats) -> tuple[float, Floats]:
    """``tr(G M^-1)`` with ``M = Q D^-1 Q'``, and its gradient."""
    scaled = channel / channel.mean(axis=0)
    inverse = np.linalg.inv(scaled @ channel.T)
    pulled = inverse @ gram @ inverse @ scaled
    return float(np.sum(gram * inverse)), np.sum(scaled * pulled, axis=0) / len(channel) - 2 * pulled


def _projected(target: Floats, least: float, top: float) -> Floats:
    """Rows onto the laws between ``least`` and ``top``, by bisection in the shift."""
    low, high = (least - target).min(axis=1, keepdims=True), (top - target).max(axis=1, keepdims=True)
    for _ in range(60):
        middle = (low + high) / 2
        much = np.clip(target + middle, least, top).sum(axis=1, keepdims=True) > 1
        low, high = np.where(much, low, middle), np.where(much, middle, high)
    clipped: Floats = np.clip(target + low, least, top)
    return clipped
