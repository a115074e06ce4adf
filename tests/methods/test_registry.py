"""Every method has one line: what it answers, and what proves it; `solve` goes by it."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import cvxpy
import pytest

import mechdesign as md
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.methods.registry import EVIDENCE, METHODS
from mechdesign.values.declare import settle
from mechdesign.words.problem import FITS
from mechdesign.words.workloads import Prefix
from tests.methods import problems
from tests.methods.problems import custom_problem, hidden_problem, information, joint_problem, numbers, workload_problem

UNIT = md.Interval(0, 1)
module: Any = import_module("mechdesign.methods")
VALUES = md.priors.Atoms.of_data([0.1, 0.2, 0.7])


def test_every_method_leaves_evidence_that_files_may_hold() -> None:
    every = [kind for method in METHODS for kind in method.evidence]
    assert all(method.evidence for method in METHODS)
    assert set(EVIDENCE) == set(every)


FIVE_WORDS = {
    "finite": md.Problem(loss=[[0, 2], [1, 0]], privacy=md.Pure(1.0)),
    "pairwise": md.Problem(loss=md.Distances(), privacy=md.Metric([0, 1], 1.0), criterion=md.Average()),
    "piecewise": problems.piecewise(1.0, "power:1.5"),
    "polar": problems.polar(4.0),
    "unbiased_worst": problems.unbiased(1.0),
    "unbiased": problems.unbiased_under(1.0, VALUES, UNIT),
    "additive": problems.additive(2.0, VALUES, UNIT, bins=2, reach=3, tail=1),
    "sign_patterns": problems.several(0.01, 5),
    "ball": problems.vectors(1.0, md.Sphere(20)),
    "unbiased_piecewise": md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise()),
    "joint": joint_problem(1.0, 900, 0.2, group=3),
    "hidden_joint": hidden_problem(1.0, 200, 0.03),
    "workload": workload_problem(1.0, Prefix(4)),
    "information": information(1.0, md.models.GaussianLocation(4)),
    "convex": custom_problem(1.0, (0, 1), (0, 1), cvxpy.trace),
}


KNOWN = FIVE_WORDS | {
    "cube": problems.several(2.0),
    "minimax": numbers(1.0),
    "prior": numbers(1.0, criterion=md.Average()),
    "trade_off": numbers(1.0, criterion=md.Lexicographic()),
    "piecewise_program": problems.piecewise(1.0, "squared", pieces=3),
    "approximate": md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Approximate(1.0, 0.1)),
    "joint_program": joint_problem(1.0, 1000, 0.2),
}

ROUGHLY: dict[str, Any] = {"cube": {"levels": 3}}


class _Unheard:
    """A word of a kind that nobody knows, which answers whatever is asked of it as a known one does."""

    def __init__(self, known: Any) -> None:
        self._known = known

    def __getattr__(self, name: str) -> Any:
        return getattr(self._known, name)

    def __len__(self) -> int:
        return len(self._known)

    def over(self, inputs: Any) -> Any:
        return self


@pytest.mark.parametrize("word", ["privacy", "criterion", "among"])
@pytest.mark.parametrize("name", [method.folder for method in METHODS])
def test_a_word_of_a_kind_that_a_method_has_not_heard_of_is_not_taken_for_another(name: str, word: str) -> None:
    problem = KNOWN[name]
    unheard = copy.copy(problem)
    settle(unheard, **{word: _Unheard(getattr(problem, word))})
    method = next(method for method in METHODS if method.folder == name)
    assert method.supports(problem) is None
    try:
        FITS[type(problem.loss)].settled(unheard)
        missed = method.supports(unheard)
    except InvalidInput:
        return
    assert missed is not None
    design = md.solve(problem, gap=0.5, method=name, **ROUGHLY.get(name, {}))
    with pytest.raises((CheckFailed, InvalidInput)):
        design.evidence.bound(unheard, design.mechanism)


@pytest.mark.parametrize("name", FIVE_WORDS)
def test_the_method_that_supports_a_problem_answers_it_and_can_be_chosen(name: str) -> None:
    problem = FIVE_WORDS[name]
    assert [method for method, missed in md.methods(problem).items() if missed is None] == [name]
    design = md.solve(problem)
    assert design == md.solve(problem, method=name)
    assert type(design.evidence) in next(method.evidence for method in METHODS if method.folder == name)


@pytest.mark.parametrize("name", FIVE_WORDS)
@pytest.mark.parametrize("gap", [1e-2, 1e-4])
def test_a_gap_is_a_demand_and_no_part_of_the_problem(name: str, gap: float) -> None:
    design = md.solve(FIVE_WORDS[name], gap=gap)
    assert design.certificate.relative_gap <= gap
    assert design.report.gap == gap
    assert design.problem == md.solve(FIVE_WORDS[name]).problem


@pytest.mark.parametrize(
    ("problem", "nearest", "step"),
    [
        (numbers(1e-9), "minimax: eps must lie between 1e-06 and 16", "privacy=Pure(epsilon=1e-06)"),
        (numbers(1.0, md.Power(0.5)), "piecewise: mechanisms must be among", "among=Piecewise()"),
        (
            joint_problem(1e-5, 100, 0.1, group=4),
            "joint: eps and its caps",
            "privacy=Collusion(epsilon=1.0, users=100)",
        ),
    ],
    ids=["eps", "loss", "group"],
)
def test_of_a_problem_that_nothing_answers_the_three_nearest_methods_are_named_and_what_would_be_answered(
    problem: md.Problem, nearest: str, step: str
) -> None:
    with pytest.raises(InvalidInput) as error:
        md.solve(problem)
    assert error.value.rule.startswith(f"be one that a method answers ({nearest}")
    assert error.value.rule.endswith("; md.methods(problem) lists the rest)")
    assert sum(f"{name}: " in error.value.rule for name in md.methods(problem)) == 3
    assert error.value.next_step == f"it is answered with {step}"


def test_of_a_method_that_was_chosen_nothing_else_is_said() -> None:
    with pytest.raises(InvalidInput) as error:
        md.solve(numbers(1.0), method="finite")
    assert error.value.rule == "be one that a method answers (finite: inputs must be finitely many)"


def test_solve_says_what_a_problem_is_to_who_passes_something_else() -> None:
    with pytest.raises(InvalidInput, match=r"be a Problem .*for example md\.Problem"):
        md.solve(1.0)


def test_the_time_limit_reaches_the_search() -> None:
    with pytest.raises(NoAnswer):
        md.solve(numbers(2.5, md.Squared()), 1e-3, gap=1e-6)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "1"])
def test_a_time_limit_that_is_none_is_refused_for_every_problem(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        md.solve(problems.piecewise(1.0), seconds)
