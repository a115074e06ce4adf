"""A cutting-plane loop: a HiGHS session that keeps its basis beside solving every program of the loop from scratch.

The least value of a maximum of planes over a box, where only the planes that a solution breaks are ever added. The
cuts are found once; both contenders then solve the very same programs.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from mechdesign_solvers import Highs, HighsSession, LinearProgram
from numpy.typing import NDArray

from benchmarks.clock import medians
from benchmarks.rows import Row, Target

Floats = NDArray[np.float64]

VARIABLES, PLANES = 60, 6000
CUTS_A_ROUND = 15
TURNS = 3
TARGET = Target(ratio=1.0)


def rows() -> Iterator[Row]:
    rng = np.random.default_rng(20240517)
    slopes, heights = rng.normal(size=(PLANES, VARIABLES)), rng.normal(size=PLANES)
    rounds = _cut_until_solved(slopes, heights)
    _require_same_values(rounds)
    times = medians({"warm": lambda: _warm(rounds), "cold": lambda: _cold(rounds)}, TURNS)
    cuts = sum(right.size for _, right in rounds)
    name = f"HiGHS session, {len(rounds)} rounds, {cuts} cuts"
    yield Row(name, "HiGHS from scratch each round", times["warm"], times["cold"], TARGET)


Cuts = tuple[Floats, Floats]


def _start() -> LinearProgram:
    """Minimise t, with the box and a floor under t but no planes yet."""
    cost = np.append(np.zeros(VARIABLES), 1.0)
    lower, upper = np.append(-np.ones(VARIABLES), -1e3), np.append(np.ones(VARIABLES), 1e3)
    return LinearProgram.of(cost, np.zeros((0, VARIABLES + 1)), lower=lower, upper=upper)


def _cut_until_solved(slopes: Floats, heights: Floats) -> list[Cuts]:
    """Rounds of rows ``slope @ x - t <= -height``, the most violated planes each time."""
    session = HighsSession(_start())
    rounds: list[Cuts] = []
    while True:
        point = session.solve().require_optimal().primal
        assert point is not None
        excess = slopes @ point[:-1] + heights - point[-1]
        worst = np.argsort(excess)[::-1][:CUTS_A_ROUND]
        worst = worst[excess[worst] > 1e-7]
        if not worst.size:
            return rounds
        rounds.append((np.column_stack([slopes[worst], -np.ones(worst.size)]), -heights[worst]))
        session.add_rows(rounds[-1][0], row_upper=rounds[-1][1])


def _warm(rounds: list[Cuts]) -> list[float]:
    session = HighsSession(_start())
    session.solve()
    return [_add_and_solve(session, cuts) for cuts in rounds]


def _add_and_solve(session: HighsSession, cuts: Cuts) -> float:
    session.add_rows(cuts[0], row_upper=cuts[1])
    value = session.solve().require_optimal().objective
    assert value is not None
    return value


def _cold(rounds: list[Cuts]) -> list[float]:
    start, values = _start(), []
    for k in range(len(rounds)):
        matrix = np.vstack([cuts for cuts, _ in rounds[: k + 1]])
        right = np.concatenate([right for _, right in rounds[: k + 1]])
        program = LinearProgram.of(start.cost, matrix, row_upper=right, lower=start.lower, upper=start.upper)
        value = Highs().solve(program).require_optimal().objective
        assert value is not None
        values.append(value)
    return values


def _require_same_values(rounds: list[Cuts]) -> None:
    """A race counts only if both contenders reach the same optima."""
    difference = float(np.max(np.abs(np.subtract(_warm(rounds), _cold(rounds)))))
    if difference > 1e-6:
        raise ArithmeticError(f"warm and cold optima differ by {difference}")
