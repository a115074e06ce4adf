"""Exact lower bounds for joint responses: never above any law, attained by some."""

from __future__ import annotations

from fractions import Fraction as F

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from mechdesign.exact.collusion import averaged_ratio, conditional_ratio
from mechdesign.exact.joint_variance import Goal, least_on_lines, least_pair, line_below
from mechdesign.mechanisms.joint import JointResponse


def ratio_of(probability):
    return probability / (1 - probability)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(0, 100),
    st.integers(0, 60),
    st.fractions(F(52, 100), F(95, 100)),
    st.one_of(st.just(F(1)), st.fractions(F(52, 100), F(99, 100))),
    st.fractions(F(51, 100), F(99, 100)),
    st.fractions(0, 1),
)
def test_no_pair_that_keeps_the_budgets_has_less_variance(count, colluders, budget, cap, p, place):
    goal = Goal.of_counts(100, 2, 2, F(count), F(count))
    best = least_pair(goal, budget, cap, F(colluders, 99))
    rho = (1 - 1 / p) + place / p
    law = JointResponse.pair(p, min(rho, F(1)))
    conditional = conditional_ratio(law, 1)
    keeps = averaged_ratio(law, 100, colluders) or F(10**9)
    if keeps <= ratio_of(budget) and (cap == 1 or (conditional is not None and conditional <= ratio_of(cap))):
        assert law.variance(100, count) >= best.variance
    attained = JointResponse.pair(best.p, best.rho)
    assert attained.variance(100, count) == best.variance
    assert averaged_ratio(attained, 100, colluders) <= ratio_of(budget)
    if cap < 1:
        assert conditional_ratio(attained, 1) <= ratio_of(cap)


@pytest.mark.parametrize("count", [0, 3, 30, 50, 97])
@pytest.mark.parametrize("colluders", [0, 8, 40])
@pytest.mark.parametrize("cap", [F(1), F(9, 10)])
def test_a_fine_grid_finds_nothing_better(count, colluders, cap):
    goal = Goal.of_counts(100, 2, 2, F(count), F(count))
    budget, a = F(3, 4), colluders / 99
    best = float(least_pair(goal, budget, cap, F(colluders, 99)).variance)
    share = float(goal.low) / 100
    r = np.linspace(0, 1, 20001)
    p = np.minimum(0.75 / (1 + a * r), float(cap) / (1 + r))
    falling = np.where(p > 0.5001, 100 * p * (1 - p) * (1 - r * share) / np.maximum(2 * p - 1, 1e-9) ** 2, np.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        other = (1 - float(cap)) / (1 - r) if cap < 1 else np.zeros_like(r)
        q = np.maximum(0.25 / np.maximum(1 - a * r, 1e-12), np.nan_to_num(other, nan=1.0))
    q = np.minimum(q, 0.5)
    rising = np.where(q < 0.4999, 100 * q * (1 - q) * (1 + r * share) / np.maximum(1 - 2 * q, 1e-9) ** 2, np.inf)
    grid = min(falling.min(), rising.min())
    assert best <= grid * (1 + 1e-12)
    assert best == pytest.approx(grid, rel=1e-4)


def test_a_range_of_counts_is_as_bad_as_its_worst():
    goal = Goal.of_counts(100, 2, 2, F(5), F(30))
    law = JointResponse.pair(F(3, 4), F(-1, 4))
    worst = max(law.variance(100, count) for count in range(5, 31))
    assert goal.variance(law.truth, law.covariance) == worst
    across = Goal.of_counts(100, 2, 2, F(30), F(60))
    worst = max(law.variance(100, count) for count in range(30, 61))
    assert across.variance(law.truth, law.covariance) == worst


def test_where_counts_lie_on_both_sides_independent_answers_are_best():
    goal = Goal.of_counts(100, 2, 2, F(10), F(60))
    assert goal.helpful == 0
    assert least_pair(goal, F(3, 4), F(1), F(0)).rho == 0


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(0, 20), min_size=5, max_size=5), st.fractions(-5, 15), st.fractions(0, 3))
def test_weak_duality_holds_for_every_law_and_multiplier(units, slope, multiplier):
    if sum(units) == 0:
        return
    weights = [F(unit, sum(units)) for unit in units]
    costs, row = [0, 1, 4, 9, 16], [F(1), F(-1), F(0), F(2), F(-3)]
    intercept, rate = line_below(costs, slope, [(multiplier, row)])
    if sum(a * w for a, w in zip(row, weights, strict=True)) <= 0:
        mean = sum(t * w for t, w in enumerate(weights))
        assert sum(c * w for c, w in zip(costs, weights, strict=True)) >= intercept + rate * mean


def test_negative_multipliers_prove_nothing():
    with pytest.raises(ValueError, match="at least 0"):
        line_below([0, 1], F(0), [(F(-1), [F(1), F(1)])])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=5, max_size=5), st.sampled_from([2, 3]), st.integers(0, 20))
def test_the_bound_from_lines_is_below_every_law(units, categories, count):
    """The lines through neighbouring squares bound the second moment of every law on 0..4."""
    lines = [(F(-t * (t + 1)), F(2 * t + 1)) for t in range(4)]
    goal = Goal.of_counts(20, 4, categories, F(count), F(count))
    if sum(units) == 0 or goal.helpful <= 0:
        return
    weights = tuple(F(unit, sum(units)) for unit in units)
    p = sum(t * w for t, w in enumerate(weights)) / 4
    low = F(1, categories) + F(1, 100)
    if not low <= p:
        return
    bound, place = least_on_lines(goal, lines, low, F(1))
    assert low <= place <= 1
    assert bound <= JointResponse(weights, categories).variance(20, count)
