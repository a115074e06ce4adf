"""`solve`: any design problem from a file, with what was left out at its default."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mechdesign import load_design
from mechdesign.methods.registry import solve
from mechdesign.values.codec import encoded
from tests.methods import problems
from tests.methods.problems import joint_problem, numbers

NUMBERS = {
    "kind": "problem",
    "inputs": {"kind": "interval", "lower": 0, "upper": 1},
    "loss": {"kind": "power", "exponent": 1, "period": None},
    "privacy": {"kind": "pure", "epsilon": 1},
}


def _file(folder: Path, problem: object) -> str:
    path = folder / "problem.json"
    path.write_text(json.dumps(problem))
    return str(path)


def test_a_problem_is_its_kind_and_the_fields_without_default(run: Any, tmp_path: Path) -> None:
    outcome = run("solve", _file(tmp_path, NUMBERS), "--out", str(tmp_path / "d.json"))
    assert "worst-case absolute error: 0.31617" in outcome.out
    found, asked = load_design(tmp_path / "d.json"), solve(numbers(1.0))
    assert (found.problem, found.mechanism) == (asked.problem, asked.mechanism)


@pytest.mark.parametrize("problem", [problems.piecewise(2.0, at=0.25), joint_problem(1.0, 100, 0.1)])
def test_what_a_design_says_of_its_problem_can_be_solved_again(run: Any, tmp_path: Path, problem: Any) -> None:
    told = run("solve", _file(tmp_path, json.loads(json.dumps(encoded(problem)))), "--json").json
    assert told["problem"]["kind"] == problem.kind
    assert told["certificate"]["lower"] <= told["certificate"]["upper"]


def test_a_saved_design_is_solved_anew(run: Any, tmp_path: Path) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    run("solve", _file(tmp_path, encoded(problems.piecewise(1.0))), "--out", str(first))
    assert run("solve", str(first), "--out", str(second), "--plot", str(tmp_path / "p.png")).code == 0
    assert load_design(first) == load_design(second)
    assert (tmp_path / "p.png").stat().st_size > 1000


@pytest.mark.parametrize(
    ("problem", "said"),
    [
        ({}, "problem kind"),
        ({"kind": "best"}, "problem kind must be one of"),
        ({"kind": "problem"}, "problem loss"),
        (NUMBERS | {"slack": 2}, "no such field"),
        (NUMBERS | {"privacy": {"kind": "pure", "epsilon": -1}}, "above 0"),
        (NUMBERS | {"privacy": {"kind": "pure", "epsilon": "1"}}, "be a number"),
    ],
)
def test_what_is_no_problem_is_refused(run: Any, tmp_path: Path, problem: Any, said: str) -> None:
    outcome = run("solve", _file(tmp_path, problem))
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err


def test_no_answer_within_the_limit_says_the_bounds(run: Any, tmp_path: Path) -> None:
    hard = _file(tmp_path, NUMBERS | {"privacy": {"kind": "pure", "epsilon": 8}})
    outcome = run("solve", hard, "--time-limit", "0.5")
    assert outcome.code == 3
    assert "the optimum lies in" in outcome.err
