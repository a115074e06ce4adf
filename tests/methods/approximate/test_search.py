"""The least loss with a delta: closed forms, other solvers, and what cannot be asked."""

from __future__ import annotations

import math
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.exact.hockey import hockey_excess
from mechdesign.exact.rational import exp_upper
from mechdesign.mechanisms import Discrete


def solved(loss: object, epsilon: float, delta: float, criterion: object = None) -> md.Design:
    said = {} if criterion is None else {"criterion": criterion}
    return md.solve(md.Problem(loss=loss, privacy=md.Approximate(epsilon, delta), **said))


@pytest.mark.parametrize("inputs", [2, 3, 6])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.05])
def test_randomised_response_with_delta_is_the_optimum_for_wrong_answers(inputs: int, delta: float) -> None:
    """``a - c b = delta`` with ``a = 1 - (k - 1) b``."""
    certificate = solved(1 - np.eye(inputs), 1.0, delta).certificate
    truth = (inputs - 1) * (1 - delta) / (math.e + inputs - 1)
    assert certificate.lower == pytest.approx(truth, rel=1e-9)
    assert certificate.upper == pytest.approx(truth, rel=1e-9)


def test_another_solver_finds_the_same_value() -> None:
    rng = np.random.default_rng(7)
    for _ in range(5):
        losses, delta, epsilon = rng.random((3, 4)), 0.1, float(rng.uniform(0.2, 2))
        q = cp.Variable((3, 4), nonneg=True)
        kept = [cp.sum(cp.pos(q[x] - math.exp(epsilon) * q[other])) <= delta for x in range(3) for other in range(3)]
        worst = cp.max(cp.sum(cp.multiply(losses, q), axis=1))
        value = cp.Problem(cp.Minimize(worst), [*kept, cp.sum(q, axis=1) == 1]).solve(solver=cp.CLARABEL)
        certificate = solved(losses, epsilon, delta).certificate
        assert certificate.lower == pytest.approx(value, rel=1e-6)
        assert certificate.relative_gap < 1e-9


def test_without_a_delta_it_is_the_optimum_of_pure_privacy() -> None:
    losses = np.abs(np.subtract.outer(np.arange(4), np.arange(4)))
    pure = md.solve(md.Problem(loss=losses, privacy=md.Pure(0.7)), gap=1e-8).certificate
    found = solved(losses, 0.7, 0.0).certificate
    assert found.lower <= pure.upper
    assert pure.lower <= found.upper


def test_a_delta_saves_its_own_share_where_every_input_has_a_free_output() -> None:
    losses = np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    weights = md.Average([0.1, 0.2, 0.4, 0.2, 0.1])
    pure = md.solve(md.Problem(loss=losses, privacy=md.Pure(1.0), criterion=weights), gap=1e-9).certificate
    found = solved(losses, 1.0, 0.05, weights).certificate
    assert found.upper == pytest.approx(0.95 * pure.upper, rel=1e-8)


def test_the_table_keeps_its_delta_exactly() -> None:
    for delta in (0.0, 1e-9, 0.01):
        mechanism = solved(np.random.default_rng(1).random((4, 6)), 2.0, delta).mechanism
        assert isinstance(mechanism, Discrete)
        assert hockey_excess(mechanism, exp_upper(2.0)) <= Fraction(delta)


def test_a_problem_without_loss_has_the_bounds_zero() -> None:
    certificate = solved([[0.0, 1.0], [0.0, 1.0]], 1.0, 0.1).certificate
    assert (certificate.lower, certificate.upper) == (0.0, 0.0)


def test_words_name_the_delta() -> None:
    text = solved([[0, 1], [1, 0]], 1.0, 0.25).summary()
    assert "eps = 1 with delta = 0.25" in text
    assert "but for a probability of 0.25" in text


def test_a_saved_design_comes_back_and_is_proven_again(tmp_path: object) -> None:
    design = solved([[0, 1, 2], [1, 0, 1]], 1.0, 0.1)
    assert md.load_design(design.save(f"{tmp_path}/design.json")) == design


def test_no_table_ships_with_a_delta() -> None:
    with pytest.raises(InvalidInput, match="delta must be 0 for what ships"):
        md.make_table(solved([[0, 1], [1, 0]], 1.0, 1e-9))


def test_a_lexicographic_criterion_is_not_answered_and_the_reason_is_said() -> None:
    with pytest.raises(InvalidInput, match=r"criterion must be Worst\(\) or Average\(prior\)"):
        solved([[0, 1], [1, 0]], 1.0, 0.1, md.Lexicographic([0.5, 0.5]))


def test_a_limit_of_time_ends_with_bounds() -> None:
    problem = md.Problem(loss=1 - np.eye(25), privacy=md.Approximate(1.0, 0.01))
    with pytest.raises(NoAnswer) as stopped:
        md.solve(problem, seconds=1e-3)
    assert stopped.value.lower == 0
    assert stopped.value.upper == 1


def test_rivals_are_those_without_a_delta_and_the_response_with_it() -> None:
    field = md.field_of(solved(1 - np.eye(3), 1.0, 0.1))
    assert field.rows[1].name == "randomised response with delta"
    assert field.rows[1].worst == pytest.approx(2 * 0.9 / (math.e + 2), rel=1e-9)
