"""Shares of rows from the one primal-dual loop, beside linear programs, closed forms and other shares."""

from __future__ import annotations

import numpy as np
import pytest
from mechdesign_solvers import Highs, LinearProgram
from mechdesign_solvers.primal_dual import Manner, Positive, Step, advance
from mechdesign_solvers.shares import Linear, Objective, Reciprocals, TraceInverse, best_shares


def _rows(seed: int, count: int, size: int) -> np.ndarray:
    """Rows of which equal shares add up to one in every place."""
    rows = np.random.default_rng(seed).uniform(0.2, 1.0, (count, size))
    return np.asarray(rows / rows.mean(axis=0))


@pytest.mark.parametrize("seed", range(4))
def test_a_linear_objective_has_the_optimum_of_its_program(seed: int) -> None:
    rows, worth = _rows(seed, 30, 5), np.random.default_rng(seed).uniform(0, 2, 30)
    found = best_shares(Linear(worth), rows, np.full(30, 1 / 30), None, 1e-9)
    best = Highs().solve(LinearProgram.of(-worth, rows.T, 1.0, 1.0, lower=0)).require_optimal().objective
    assert worth @ found.shares == pytest.approx(-best, rel=1e-8)
    assert found.prices.sum() == pytest.approx(-best, rel=1e-8)


def test_shares_of_reciprocals_are_roots_of_their_costs() -> None:
    """``sum c_i / u_i`` is least at ``u_i = sqrt(c_i)``, up to scale."""
    costs = np.array([1.0, 4.0, 9.0])
    found = best_shares(Reciprocals(costs, np.eye(3)), np.ones((3, 1)), np.full(3, 1 / 3), None, 1e-10)
    assert found.shares == pytest.approx(np.sqrt(costs) / 6, rel=1e-4)
    assert found.prices == pytest.approx([36.0], rel=1e-8)


def _bent(name: str, seed: int) -> tuple[Objective, np.ndarray]:
    rows = _rows(seed, 20, 4)
    objective = TraceInverse(np.diag([1.0, 2, 3, 4]), rows) if name == "trace" else Reciprocals(np.ones(4), rows)
    return objective, rows


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", ["trace", "reciprocals"])
def test_prices_pay_for_every_row_and_for_those_with_shares_only_what_they_are_worth(name: str, seed: int) -> None:
    """Which proves the optimum of a convex objective; shares add up to one in every place."""
    objective, rows = _bent(name, seed)
    found = best_shares(objective, rows, np.full(20, 1 / 20), None, 1e-8)
    value, worth, _ = objective.at(found.shares)
    left = rows @ found.prices - worth
    assert left.min() >= -1e-5 * value
    assert found.shares @ left <= 1e-5 * value
    assert rows.T @ found.shares == pytest.approx(np.ones(4), abs=1e-8)


@pytest.mark.parametrize("name", ["trace", "reciprocals"])
def test_what_a_row_is_worth_is_the_slope(name: str) -> None:
    objective, _ = _bent(name, 7)
    shares, change = np.full(20, 1 / 20), np.random.default_rng(7).normal(size=20) * 1e-6
    above, below = (objective.at(shares + sign * change).value for sign in (1, -1))
    assert (below - above) / 2 == pytest.approx(objective.at(shares).worth @ change, rel=1e-5)


class _Lost:
    """A structure whose system has no answer in doubles."""

    def __init__(self, answer: float | None) -> None:
        self.answer, self.pairs, self.moved = answer, (Positive(np.ones(2), np.ones(2)),), False

    def is_done(self) -> bool:
        return False

    def newton(self):  # type: ignore[no-untyped-def]
        if self.answer is None:
            raise np.linalg.LinAlgError
        return lambda aims: Step([(np.full(2, self.answer), np.zeros(2))], None)

    def move(self, step: Step, primal: float, dual: float) -> None:
        self.moved = True


@pytest.mark.parametrize("answer", [None, np.nan, np.inf])
@pytest.mark.parametrize("manner", [Manner(), Manner(centring=0.1)])
def test_a_step_that_doubles_do_not_allow_is_not_taken(answer: float | None, manner: Manner) -> None:
    lost = _Lost(answer)
    assert not advance(lost, manner)
    assert not lost.moved
