"""The picture of a hidden joint response says what its design says."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

from mechdesign import plot
from mechdesign.methods.hidden_joint import crowd_of, limit_ratio, ratio
from mechdesign.methods.registry import solve
from mechdesign.plot.hidden import draw_liars, draw_variances
from mechdesign.words.problem import Problem
from tests.methods.problems import hidden_problem, joint_problem

DESIGN = solve(hidden_problem(1.0, 200, 0.05))


def _level(axes: plt.Axes, label: str) -> float:
    line = next(line for line in axes.get_lines() if str(line.get_label()).startswith(label))
    return float(np.asarray(line.get_ydata())[0])


def test_levels_are_the_optimum_the_floor_and_independent_answers() -> None:
    _, axes = plt.subplots()
    draw_variances(axes, DESIGN)
    assert _level(axes, "this law") == pytest.approx(ratio(DESIGN))
    assert _level(axes, "4 s (1-s)") == pytest.approx(limit_ratio(0.05))
    assert _level(axes, "each on their own") == 1.0
    plt.close("all")


def test_pairs_are_drawn_at_their_own_optimum_for_every_number_of_colluders() -> None:
    _, axes = plt.subplots()
    draw_variances(axes, DESIGN)
    (line,) = (line for line in axes.get_lines() if "pairs" in str(line.get_label()))
    places, heights = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    for place, height in zip(places.tolist(), heights.tolist(), strict=True):
        best = solve(joint_problem(1.0, 200, 0.05, int(place))).certificate.upper
        assert height == pytest.approx(best / crowd_of(DESIGN.problem).independent_variance)
    plt.close("all")


@pytest.mark.parametrize("group", [4, 8])
def test_larger_groups_are_drawn_where_some_law_of_theirs_attains_it(group: int) -> None:
    _, axes = plt.subplots()
    draw_variances(axes, DESIGN)
    (marks,) = (line for line in axes.get_lines() if f"groups of {group}" in str(line.get_label()))
    places, heights = np.asarray(marks.get_xdata()), np.asarray(marks.get_ydata())
    assert 0 in places
    assert "on average" in str(marks.get_label())
    for place, height in zip(places.tolist(), heights.tolist(), strict=True):
        certificate = solve(joint_problem(1.0, 200, 0.05, int(place), group=group), gap=0.02).certificate
        base = crowd_of(DESIGN.problem).independent_variance
        assert certificate.lower / base <= height * (1 + 1e-9)
        assert height <= certificate.upper / base * (1 + 1e-9)
    plt.close("all")


def test_no_floor_is_drawn_where_none_is_known() -> None:
    """With a delta there are laws below 4 s (1-s)."""
    _, axes = plt.subplots()
    draw_variances(axes, solve(hidden_problem(1.0, 20, 0.5, delta=1e-1)))
    assert not [line for line in axes.get_lines() if "4 s (1-s)" in str(line.get_label())]
    plt.close("all")


def test_the_laws_of_liars_are_drawn_where_they_are() -> None:
    _, axes = plt.subplots()
    draw_liars(axes, DESIGN)
    ends = [collection.get_datalim(axes.transData) for collection in axes.collections]
    peak = DESIGN.mechanism.peak
    assert any(box.x0 <= peak <= box.x1 for box in ends)
    assert len(ends) == 2
    plt.close("all")


@pytest.mark.parametrize(
    "problem",
    [
        hidden_problem(1.0, 101, (0.0, 0.1)),
        hidden_problem(1.0, 60, 0.05, categories=3),
        hidden_problem(1.0, 60, 0.05, categories=5, encoding="unary"),
        hidden_problem(1.0, 20, 0.0, delta=1e-2),
    ],
    ids=["range", "categories", "unary", "delta"],
)
def test_every_kind_of_problem_has_its_picture(problem: Problem) -> None:
    figure = plot.of(solve(problem))
    assert len(figure.axes) == 2
    figure.canvas.draw()
