"""Designs explain themselves: on one line, in plain words, in a picture, in a notebook."""

from __future__ import annotations

import re
import sys
from functools import cache
from typing import Any

import cvxpy
import pytest
from matplotlib.figure import Figure

import mechdesign as md
from mechdesign.methods.result import Design
from mechdesign.values.declare import evolved
from tests.methods import problems
from tests.methods.problems import custom_problem, hidden_problem, joint_problem, numbers

UNIT = md.Interval(0, 1)
_BOUNDS = re.compile(r"optimum (?:in|over .*:) \[([\d.e-]+), ([\d.e-]+)\]|lower=([\d.e-]+), upper=([\d.e-]+)")
VALUES = md.priors.Atoms.of_data([0.1, 0.2, 0.7])
PROBLEMS: dict[str, Any] = {
    "piecewise": problems.piecewise(1.0),
    "claimed": problems.piecewise(1.0, md.Power(1.5)),
    "circle": problems.piecewise(1.0, md.Squared(360.0), md.Circle(360.0)),
    "polar": problems.polar(4.0),
    "minimax": numbers(1.5),
    "whole numbers": numbers(1.0, inputs=md.Finite((1, 2, 4))),
    "prior": numbers(1.0, criterion=md.Average(VALUES)),
    "trade-off": numbers(1.0, criterion=md.Lexicographic(VALUES)),
    "unbiased": problems.unbiased_under(1.0, VALUES, UNIT),
    "unbiased piecewise": md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise()),
    "additive": problems.additive(2.0, VALUES, UNIT, bins=2, reach=3, tail=1),
    "finite": md.Problem(loss=[[0, 1, 2], [1, 0, 1], [2, 1, 0]], privacy=md.Pure(1.0)),
    "joint": joint_problem(1.0, 1000, 0.2, colluders=10),
    "hidden": hidden_problem(1.0, 200, 0.03),
    "hidden and even": hidden_problem(1.0, 200, 0.5),
    "hidden with a delta": hidden_problem(1.0, 20, 0.0, delta=1e-2),
    "group": joint_problem(1.0, 900, 0.2, group=3),
    "custom": custom_problem(1.0, (0, 1), (0, 1), cvxpy.trace),
}


@cache
def _design(name: str) -> Design:
    return md.solve(PROBLEMS[name])


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_design_its_certificate_and_its_evidence_are_one_short_line_each(name: str) -> None:
    design = _design(name)
    for value in (design, design.certificate, design.evidence, design.mechanism, design.problem):
        assert "\n" not in repr(value)
        assert len(repr(value)) < 500
    assert len(repr(design)) < 160


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_bounds_that_are_shown_hold(name: str) -> None:
    design = _design(name)
    certificate = design.certificate
    for said in (repr(design), repr(certificate), design.summary()):
        ends = _BOUNDS.search(said)
        assert ends
        lower, upper = (float(end) for end in ends.groups() if end is not None)
        assert lower <= certificate.lower
        assert upper >= certificate.upper


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_summary_says_class_basis_and_privacy(name: str) -> None:
    design = _design(name)
    said = design.summary()
    assert design.certificate.valid_for in said
    assert ("claimed, not proven" if design.certificate.claimed else "proven in rational arithmetic") in said
    assert "privacy loss" in said or "What others can learn about you" in said
    assert f"eps = {design.problem.epsilon:g}" in said


@pytest.mark.parametrize("name", PROBLEMS)
def test_every_design_has_its_picture(name: str) -> None:
    assert isinstance(_design(name).plot(), Figure)


def test_a_notebook_shows_the_summary_and_the_picture() -> None:
    shown = _design("piecewise")._repr_html_()
    assert "certified optimum for [0, 1]" in shown
    assert "data:image/png;base64," in shown


def test_a_notebook_without_matplotlib_shows_the_summary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    shown = _design("piecewise")._repr_html_()
    assert "certified optimum for [0, 1]" in shown
    assert "<img" not in shown


def test_names_in_a_file_reach_neither_terminal_nor_page() -> None:
    design = _design("finite")
    hostile = evolved(design, mechanism=evolved(design.mechanism, name="\x1b[31m<script>"))
    assert "\x1b" not in repr(hostile) + hostile.summary()
    assert "<script>" not in hostile._repr_html_()


def test_a_search_that_was_stopped_is_called_no_optimum() -> None:
    with pytest.raises(md.NoAnswer) as stopped:
        md.solve(numbers(2.5, md.Squared()), gap=1e-6, most_outputs=65)
    design = stopped.value.design
    assert design is not None
    assert design.summary().startswith("best design so far")
