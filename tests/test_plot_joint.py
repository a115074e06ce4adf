"""Pictures of joint responses show what the numbers say."""

from __future__ import annotations

import math

import numpy as np
import pytest

from mechdesign.errors import InvalidInput
from mechdesign.methods import solve
from mechdesign.methods.joint import heuristic
from mechdesign.methods.joint.grouping import grouping_of
from mechdesign.plot.joint import _surface, joint_design, joint_heat_map, joint_profile
from tests.methods.problems import joint_problem

PROBLEM = joint_problem(1.0, 10000, 0.01, colluders=500)


def test_a_heat_map_has_a_panel_a_problem_and_marks_optimum_heuristic_and_independent_answers():
    figure = joint_heat_map([joint_problem(1.0, 10000, 0.01), PROBLEM])
    panels = [axes for axes in figure.axes if axes.get_xlabel().startswith("p,")]
    assert len(panels) == 2
    marks = {line.get_label(): line.get_xydata()[0] for line in panels[1].lines}
    best, rule = solve(PROBLEM).mechanism, heuristic(PROBLEM).law
    assert marks["optimum"] == pytest.approx([float(best.truth), float(best.rho)])
    assert marks["paper's heuristic"] == pytest.approx([float(rule.truth), float(rule.rho)])
    assert marks["independent RR"] == pytest.approx([math.e / (1 + math.e), 0])


def test_marks_at_one_place_of_the_heat_map_grow_smaller_on_top():
    problem = joint_problem(1.0, 10000, 0.03)  # its optimum is the paper's rule
    axes = joint_heat_map([problem]).axes[0]
    marks = {line.get_label(): (line.get_xydata()[0].tolist(), line.get_markersize()) for line in axes.lines}
    assert marks["optimum"][0] == pytest.approx(marks["paper's heuristic"][0])
    sizes = [size for _, size in marks.values()]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] > sizes[-1]


def test_laws_that_only_share_a_point_of_the_profile_are_both_seen_there():
    axes = joint_profile({"groups": (1.0, 1.5, 2.5), "pairs": (1.0, math.inf), "rule": (1.0, math.inf)}, 1.0).axes[0]
    sizes = [line.get_markersize() for line in axes.lines[:3]]
    assert sizes[0] > sizes[1] > sizes[2]


def test_the_surface_is_the_exact_variance_and_the_budgets():
    best = solve(PROBLEM)
    p, rho = float(best.mechanism.truth), float(best.mechanism.rho)
    places = np.array([[p - 1e-6, p + 1e-3]]), np.array([[rho + 1e-5, rho + 1e-2]])
    variance, possible, allowed = _surface(grouping_of(PROBLEM), *places)
    assert variance[0, 0] == pytest.approx(best.certificate.upper, rel=1e-4)
    assert possible.all()
    assert allowed.tolist() == [[True, False]]


def test_a_profile_ends_its_lines_at_the_last_finite_loss_and_marks_every_infinite_one():
    figure = joint_profile({"pairs": (0.9, math.inf), "groups": (0.5, 0.9, math.inf, math.inf)}, 1.0)
    axes = figure.axes[0]
    top = axes.get_ylim()[1]
    lines = {line.get_label(): line.get_ydata() for line in axes.lines}
    assert list(lines["pairs"]) == pytest.approx([0.9, math.nan], nan_ok=True)
    assert list(lines["groups"]) == pytest.approx([0.5, 0.9, math.nan, math.nan], nan_ok=True)
    assert [(text.get_text(), text.xy) for text in axes.texts] == [("∞", (c, top)) for c in (1, 2, 3)]


def test_infinity_signs_of_two_laws_do_not_hide_each_other():
    axes = joint_profile({"one": (0.9, math.inf), "other": (0.5, math.inf)}, 1.0).axes[0]
    assert len({text.get_position() for text in axes.texts}) == 2


def test_both_panels_of_a_group_are_about_this_design():
    design = solve(joint_problem(1.0, 1000, 0.05, group=4))
    left, right = joint_design(design).axes
    heights = [bar.get_height() for bar in left.containers[0]]
    assert heights == pytest.approx([float(weight) for weight in design.mechanism.weights])
    p = math.e / (1 + math.e)
    alone = [math.comb(4, t) * p**t * (1 - p) ** (4 - t) for t in range(5)]
    assert [bar.get_height() for bar in left.containers[1]] == pytest.approx(alone)
    assert left.get_title().startswith("Groups of 4: ε = 1, n = 1000")
    assert right.lines[0].get_label() == "this design (groups of 4)"


def test_designs_with_more_categories_are_drawn_as_their_law():
    figure = joint_design(solve(joint_problem(1.0, 1000, 0.05, categories=3)))
    assert next(axes.get_xlabel() for axes in figure.axes) == "truthful answers in a group of 2"
    with pytest.raises(InvalidInput, match="heat map"):
        joint_heat_map([joint_problem(1.0, 1000, 0.05, categories=3)])


def test_designs_of_an_odd_number_of_users_have_no_pairs_to_be_drawn():
    figure = joint_design(solve(joint_problem(1.0, 999, 0.05, group=3)))
    assert next(line.get_label() for line in figure.axes[1].lines) == "this design (groups of 3)"
