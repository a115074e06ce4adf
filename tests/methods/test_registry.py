"""Every problem has one line: what proves it, and what answers it; `solve` goes by it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import attrs
import cvxpy
import pytest

import mechdesign as md
from mechdesign.errors import InvalidInput, NoAnswer
from mechdesign.methods.registry import ENTRIES, METHODS, PROVEN_BY
from mechdesign.words.workloads import Prefix
from tests.methods import problems
from tests.methods.problems import custom_problem, hidden_problem, information, numbers, workload_problem

UNIT = md.Interval(0, 1)
module: Any = import_module("mechdesign.methods")
VALUES = md.priors.Atoms.of_data([0.1, 0.2, 0.7])
ANSWERED: dict[str, tuple[Any, Callable[[Any], md.Design]]] = {
    "joint": (md.JointProblem(1.0, 1000, 0.2), md.optimal_joint),
}
FUNCTIONS = [name for name in dir(md) if name.startswith("optimal_")]


@pytest.mark.parametrize("name", ANSWERED)
def test_solve_finds_what_the_problems_own_function_finds(name: str) -> None:
    problem, function = ANSWERED[name]
    assert md.solve(problem) == function(problem)


def test_every_problem_of_the_package_is_answered_by_solve() -> None:
    asked = {entry.problem for entry in ENTRIES}
    named = {getattr(md, name) for name in dir(md) if name.endswith("Problem")}
    assert named - {md.Problem, md.FileProblem} == {type(problem) for problem, _ in ANSWERED.values()} <= asked


def test_every_entry_is_proven_by_something_and_is_there_once() -> None:
    assert all(entry.proven_by for entry in ENTRIES)
    assert len({entry.problem for entry in ENTRIES}) == len(ENTRIES)
    own = {entry.problem: entry.proven_by for entry in ENTRIES}
    assert own == {problem: kinds for problem, kinds in PROVEN_BY.items() if problem is not md.Problem}


def test_every_method_leaves_evidence_that_files_may_hold() -> None:
    every = [kind for method in METHODS for kind in method.evidence]
    assert all(method.evidence for method in METHODS)
    assert set(PROVEN_BY[md.Problem]) == set(every)


FIVE_WORDS = {
    "finite": md.Problem(loss=[[0, 1], [1, 0]], privacy=md.Pure(1.0)),
    "pairwise": md.Problem(loss=md.Distances(), privacy=md.Metric([0, 1], 1.0), criterion=md.Average()),
    "piecewise": problems.piecewise(1.0, "power:1.5"),
    "polar": problems.polar(4.0),
    "unbiased_worst": problems.unbiased(1.0),
    "unbiased": problems.unbiased_under(1.0, VALUES, UNIT),
    "additive": problems.additive(2.0, VALUES, UNIT, bins=2, reach=3, tail=1),
    "sign_patterns": problems.several(0.01, 5),
    "ball": problems.vectors(1.0, md.Sphere(20)),
    "unbiased_piecewise": md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.UnbiasedPiecewise()),
    "hidden_joint": hidden_problem(1.0, 200, 0.03),
    "workload": workload_problem(1.0, Prefix(4)),
    "information": information(1.0, md.models.GaussianLocation(4)),
    "convex": custom_problem(1.0, (0, 1), (0, 1), cvxpy.trace),
}


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


@pytest.mark.parametrize("demand", [{"gap": 1e-3}, {"method": "finite"}])
def test_a_problem_that_holds_its_own_gap_is_given_no_demand(demand: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="be left out for a JointProblem"):
        md.solve(ANSWERED["joint"][0], **demand)


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("said", [1.0, None, "x"])
def test_every_function_says_what_to_pass_to_who_passes_a_number(name: str, said: Any) -> None:
    with pytest.raises(
        InvalidInput, match=r"problem must be of kind (\w+Problem) .*pass md\.\1\((epsilon=1\.0|privacy=\.\.\.)"
    ) as error:
        getattr(md, name)(said)
    assert error.value.field == "problem"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_call_that_is_told_names_every_field_that_is_needed(name: str) -> None:
    with pytest.raises(InvalidInput) as error:
        getattr(md, name)(1.0)
    kind = getattr(md, error.value.rule.split()[-1])
    needed = [entry.name for entry in attrs.fields(kind) if entry.init and entry.default is attrs.NOTHING]
    assert all(f"{field}=" in error.value.next_step for field in needed)


def test_another_problem_is_sent_to_solve() -> None:
    with pytest.raises(InvalidInput, match=r"be of kind JointProblem .*md\.solve"):
        md.optimal_joint(problems.piecewise(1.0))  # type: ignore[arg-type]


def test_solve_lists_the_problems_to_who_passes_something_else() -> None:
    with pytest.raises(InvalidInput, match=r"JointProblem, Problem.*for example md\.Problem"):
        md.solve(1.0)


def test_the_time_limit_reaches_the_search() -> None:
    with pytest.raises(NoAnswer):
        md.solve(numbers(2.5, md.Squared()), 1e-3, gap=1e-6)


@pytest.mark.parametrize("seconds", [0, -1, float("inf"), float("nan"), "1"])
def test_a_time_limit_that_is_none_is_refused_for_every_problem(seconds: Any) -> None:
    with pytest.raises(InvalidInput, match="seconds"):
        md.solve(problems.piecewise(1.0), seconds)
