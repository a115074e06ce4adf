"""Twelve questions to `advise`, each with the command it leads to; every command it prints is run as it stands."""

from __future__ import annotations

import io
import os
import pty
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign import examples
from mechdesign.cli import advise
from mechdesign.studies.advice import WANTS

TOWN = "139.47,139.9,35.51,35.86"
APPS = sorted(set(examples.content("categories.csv").decode().split()[1:]))
NAMES = ",".join(APPS)

# what someone brings: (the question, what is told to advise, what its first commands have to be)
QUESTIONS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "a mean of 50,000 salaries": (
        ("--want", "mean", "--data", "salaries.csv", "--column", "salary", "--bounds", "0,250000", "--users", "50000"),
        (
            *("mean salaries.csv .*--bounds 0,250000", "table .*--domain 0,250000"),
            *("apply mean.table.json", "estimate mean.table.json"),
        ),
    ),
    "a histogram of them": (
        ("--want", "distribution", "--data", "salaries.csv", "--column", "salary", "--bounds", "0,250000"),
        ("table .*--mechanism sw", "apply wave.table.json", "estimate wave.table.json .*--bins 20"),
    ),
    "ages as whole numbers": (
        ("--want", "value", "--data", "ages.csv", "--column", "age", "--bounds", "18..90"),
        ("minimax .*--domain 18..90", "table optimum.json", "apply optimum.table.json"),
    ),
    "a yes/no survey": (
        ("--want", "yes-no", "--data", "answers.csv", "--column", "smokes", "--labels", "no,yes"),
        ("table .*--mechanism grr .*--labels no,yes", "apply answers.table.json", "estimate answers.table.json"),
    ),
    "a Likert scale": (
        ("--want", "categories", "--data", "answers.csv", "--column", "agree", "--labels", "1..5"),
        ("table .*--mechanism grr .*--labels 1,2,3,4,5", "apply answers.table.json", "estimate answers.table.json"),
    ),
    "200 categories": (
        ("--want", "categories", "--data", "categories.csv", "--column", "app"),
        ("bench .*--protocols ss,", "table .*--protocol ss --size 200", "export answers.table.json"),
    ),
    "a distribution function": (
        ("--want", "ranges", "--data", "ages.csv", "--column", "age", "--bounds", "18..90"),
        (
            *("table .*--mechanism sw .*--domain 17.5,90.5", "apply wave.table.json"),
            "estimate wave.table.json .*--bins 73",
        ),
    ),
    "ranges of many users": (
        (
            *("--want", "ranges", "--data", "salaries.csv", "--column", "salary", "--bounds", "0,250000"),
            *("--size", "12", "--users", "5000000"),
        ),
        (
            *("workload .*--queries ranges --size 12", "table ranges.json", "bins.csv"),
            *("apply ranges.table.json --in bins.csv", "estimate ranges.table.json"),
        ),
    ),
    "several means": (
        ("--want", "means", "--users", "20000", "--size", "5", "--bounds", "0,1"),
        ("vector .*--count 5", "table means.json", "export means.table.json"),
    ),
    "several means at a large epsilon": (
        ("--want", "means", "--users", "20000", "--size", "2", "--bounds", "0,1", "--eps", "6"),
        ("vector .*--count 2", "table means.json", "export means.table.json"),
    ),
    "tables": (
        ("--want", "tables", "--users", "20000", "--attributes", "3x3x3,2"),
        ("workload .*--queries marginals:3x3x3,2 .*--gap", "table tables.json", "export tables.table.json"),
    ),
    "tables of people": (
        ("--want", "tables", "--data", "types.csv", "--column", "type", "--attributes", "2x3,1"),
        (
            *("workload .*--queries marginals:2x3,1 .*--users 900", "table tables.json"),
            *("apply tables.table.json --in types.csv", "estimate tables.table.json"),
        ),
    ),
    "200 categories by name": (
        ("--want", "categories", "--data", "categories.csv", "--column", "app", "--labels", NAMES),
        ("table .*--protocol ss --labels", "apply answers.table.json", "estimate answers.table.json"),
    ),
    "an angle": (
        ("--want", "angle", "--data", "bearings.csv", "--column", "degrees", "--bounds", "0,360"),
        ("ogpm .*--circular", "table angle.json", "apply angle.table.json", "estimate angle.table.json"),
    ),
    "places": (
        ("--want", "place", "--data", "places.csv", "--bounds", TOWN),
        (f"trajectory compare .*--bounds {TOWN}", "trajectory perturb places.csv", "trajectory compare"),
    ),
    "places, the nearer the better hidden": (
        ("--want", "place", "--data", "corners.csv", "--column", "people", "--per", "1"),
        ("metric .*--points corners.csv .*--prior people", "table metric.json", "metric .*--plot metric.png"),
    ),
    "my own matrix against the optimum": (
        ("--want", "matrix", "--loss-matrix", "loss.csv"),
        ("minimax .*--loss-matrix loss.csv", "table optimum.json", "export optimum.table.json"),
    ),
    "a figure for my paper": (
        ("--want", "figure", "--bounds", "0,1"),
        ("compare .*--plot errors.pdf", "compare .*--out errors.csv", "ogpm .*--plot density.pdf"),
    ),
    "the budget for a capacity alarm": (
        ("--want", "alarm", "--capacity", "1700000"),
        ("capacity .*--metric fp", "capacity .*--at-eps", "capacity .*--plot alarm.png"),
    ),
}

# the same without data, and what leads to other commands
MORE: dict[str, tuple[str, ...]] = {
    "a mean to come": ("--want", "mean", "--users", "50000", "--bounds=-5,5"),
    "a mean of what lies outside": (
        *("--want", "mean", "--data", "salaries.csv", "--column", "salary", "--bounds", "0,60000"),
    ),
    "a mean without bounds": ("--want", "mean", "--data", "salaries.csv", "--column", "salary"),
    "a value to come": ("--want", "value", "--bounds=-1,1", "--loss", "squared"),
    "a histogram to come": ("--want", "distribution", "--users", "20000", "--bounds", "0,10"),
    "a histogram at a large epsilon": ("--want", "distribution", "--users", "20000", "--bounds", "0,10", "--eps", "7"),
    "a histogram of data at a large epsilon": (
        *("--want", "distribution", "--data", "salaries.csv", "--column", "salary", "--bounds", "0,250000"),
        *("--eps", "7"),
    ),
    "ranges to come": ("--want", "ranges", "--users", "5000000", "--bounds", "0,10", "--size", "12"),
    "many answers to come": ("--want", "categories", "--size", "200", "--users", "20000"),
    "named answers to come": ("--want", "categories", "--labels", "bus,car,my bike,train", "--users", "2000"),
    "many named answers": ("--want", "categories", "--labels", "0..99", "--users", "2000"),
    "a yes or no to come": ("--want", "yes-no", "--users", "2000"),
    "an angle to come": ("--want", "angle"),
    "a place to come": ("--want", "place", "--bounds=-1,1,-2,2"),
    "a trajectory": ("--want", "trajectory", "--data", "places.csv", "--bounds", TOWN),
    "a trajectory to come": ("--want", "trajectory", "--bounds", "0,1,0,1"),
    "an alarm with data": (
        *("--want", "alarm", "--data", "water.csv", "--column", "used", "--capacity", "9000", "--tau", "0.1"),
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The examples that ship with the package, and two files more."""
    path, rng = tmp_path_factory.mktemp("advise"), np.random.default_rng(7)
    for name in examples.NAMES:
        (path / name).write_bytes(examples.content(name))
    (path / "water.csv").write_text("\n".join(["used", *map(str, rng.integers(0, 20, 900))]) + "\n")
    (path / "types.csv").write_text("\n".join(["type", *map(str, rng.integers(0, 6, 900))]) + "\n")
    (path / "loss.csv").write_text("0,1,2\n1,0,1\n2,1,0\n")
    return path


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the data and nothing else, to work in."""
    for file in made.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def options(arguments: tuple[str, ...]) -> tuple[str, ...]:
    return arguments if "--eps" in arguments or "alarm" in arguments else (*arguments, "--eps", "1")


def run_as_it_stands(run: Any, line: str) -> None:
    """A line of advice: in this process where it is a command of ours, else as a program."""
    words = shlex.split(line)
    if words[:3] == ["python", "-m", "mechdesign"]:
        outcome = run(*words[3:])
        assert outcome.code == 0, f"{line}\n{outcome.err}"
    else:
        assert words[:2] == ["python", "-c"]
        where = os.pathsep.join(filter(None, sys.path))
        environment = os.environ | {"PYTHONPATH": where}
        done = subprocess.run([sys.executable, *words[1:]], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, f"{line}\n{done.stderr}"


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_the_right_commands_and_they_run(run: Any, folder: Path, question: str) -> None:
    arguments, wanted = QUESTIONS[question]
    answer = run("advise", *options(arguments), "--json").json
    for line, pattern in zip(answer["commands"], wanted, strict=True):
        assert re.search(pattern, line), line
        run_as_it_stands(run, line)


@pytest.mark.parametrize("question", MORE)
def test_the_commands_of_other_answers_run(run: Any, folder: Path, question: str) -> None:
    answer = run("advise", *options(MORE[question]), "--json").json
    for line in answer["commands"]:
        run_as_it_stands(run, line)


READ_LATER = {
    "a mean to come": ("-1.5", "2"),
    "a histogram to come": ("1.5", "7"),
    "a histogram at a large epsilon": ("1", "7"),
    "ranges to come": ("0", "11"),
    "many answers to come": ("0", "199"),
    "named answers to come": ("bus", "my bike"),
    "a yes or no to come": ("no", "yes"),
    "an angle to come": ("1", "2"),
}
"""What people will hold who are asked later."""


@pytest.mark.parametrize("question", READ_LATER)
def test_reports_that_come_later_are_read_by_the_command_for_them(run: Any, folder: Path, question: str) -> None:
    answer = run("advise", *options(MORE[question]), "--json").json
    made = next(line for line in answer["commands"] if " table " in line or line.endswith(" table"))
    for line in answer["commands"][: answer["commands"].index(made) + 1]:
        run_as_it_stands(run, line)
    (folder / "people.csv").write_text("held\n" + "\n".join(READ_LATER[question] * 300) + "\n")
    table = shlex.split(answer["later"])[4]
    assert run("apply", table, "--in", "people.csv", "--column", "held", "--out", "reports.csv").code == 0
    run_as_it_stands(run, answer["later"])


def test_every_want_ends_in_an_answer(run: Any) -> None:
    """With data the last command estimates, simulates or draws; nobody is left with reports or a line of Python."""
    ends = {question: patterns[-1] for question, (_, patterns) in QUESTIONS.items()}
    unread = [question for question, last in ends.items() if last.startswith("apply") or "python" in last]
    assert unread == ["ages as whole numbers"]  # single reports are the answer there


def test_file_names_with_blanks_and_quotes_survive(run: Any, folder: Path) -> None:
    (folder / "my 'own' data.csv").write_bytes((folder / "salaries.csv").read_bytes())
    for want, eps in (("mean", "1"), ("distribution", "7")):
        asked = ("--want", want, "--data", "my 'own' data.csv", "--column", "salary", "--bounds", "0,250000")
        for line in run("advise", *asked, "--eps", eps, "--json").json["commands"]:
            run_as_it_stands(run, line)
        for file in ("mean.table.json", "reports.csv"):
            (folder / file).unlink(missing_ok=True)


def test_json_has_what_was_promised(run: Any) -> None:
    answer = run("advise", "--want", "mean", "--users", "100", "--eps", "1", "--bounds", "0,1", "--json").json
    assert {"mechanism", "expected_error", "runners_up", "commands", "why"} <= set(answer)
    assert set(answer["expected_error"]) == {"lower", "upper", "unit", "basis"}


def test_people_read_the_mechanism_its_error_the_next_two_why_and_how_to_go_on(run: Any) -> None:
    outcome = run("advise", "--want", "yes-no", "--users", "100", "--eps", "1")
    assert outcome.code == 0
    assert outcome.out.startswith("Take grr.\n")
    assert [part in outcome.out for part in ("0.09595 (exact)", "Next to it:", "Why:", "Go on with:")] == [True] * 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--want", "fame"), "want must be one of"),
        (("--eps", "1"), "want must be given"),
        (("--want", "mean", "--eps", "1", "--users", "5"), "--bounds 0,120"),
        (("--want", "mean", "--bounds", "0,1", "--users", "5"), "--eps 1"),
        (("--want", "mean", "--data", "none.csv", "--eps", "1"), "none.csv"),
        (("--want", "mean", "--data", "salaries.csv", "--column", "pay", "--eps", "1"), "column must be"),
        (("--want", "mean", "--bounds", "0,1", "--users", "5", "--eps", "1", "--tau", "0.1"), "options must be about"),
        (("--want", "categories", "--labels", 'a,"b', "--users", "5", "--eps", "1"), "--labels must be a line of CSV"),
    ],
)
def test_what_is_wrong_ends_in_one_line_and_code_2(
    run: Any, folder: Path, arguments: tuple[str, ...], said: str
) -> None:
    outcome = run("advise", *arguments, "--json")
    assert (outcome.code, outcome.out) == (2, "")
    assert said in outcome.err
    assert outcome.err.count("\n") == 1


def test_values_of_a_row_that_is_wrong_are_not_shown(run: Any, folder: Path) -> None:
    (folder / "bad.csv").write_text("pay\n1.5\nseven-secret\n")
    outcome = run("advise", "--want", "mean", "--data", "bad.csv", "--column", "pay", "--bounds", "0,9", "--eps", "1")
    assert outcome.code == 2
    assert "secret" not in outcome.err


# -- asked on a terminal ----------------------------------------------------------------------------------------------


def test_without_a_terminal_nobody_is_asked(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    command = [sys.executable, "-m", "mechdesign", "advise"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environment, text=True) as asked:
        _, said = asked.communicate(timeout=60)  # its input stays open and empty until it ends
    assert asked.returncode == 2
    assert "want must be given" in said


def test_on_a_terminal_it_asks_and_answers(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "COLUMNS": "200"}
    command = [sys.executable, "-m", "mechdesign", "advise", "--quiet"]
    ends = {"stdin": theirs, "stdout": theirs, "stderr": theirs}
    with subprocess.Popen(command, env=environment, **ends) as asked:
        os.close(theirs)
        for answer in ("mean", "", "1", "50000", "0,250000"):
            os.write(ours, f"{answer}\n".encode())
        said, until = b"", time.monotonic() + 60
        while b"Go on with" not in said and time.monotonic() < until:
            try:
                said += os.read(ours, 4096)
            except OSError:  # the terminal closes with the command
                break
        asked.wait(60)
    os.close(ours)
    text = said.decode()
    assert asked.returncode == 0, text
    assert all(want in text for want in WANTS)
    assert "Take hm." in text


@pytest.mark.parametrize("command", ["ogpm", "minimax"])
def test_designs_for_single_reports_lead_on_to_a_mean(run: Any, command: str) -> None:
    way = "advise --want mean"
    assert way in run(command, "--eps", "1").out
    assert way in " ".join(run(command, "--help").out.split())


@pytest.mark.parametrize("shape", ["--circular", "--polar"])
def test_designs_on_the_circle_lead_on_to_an_angle(run: Any, shape: str) -> None:
    told = run("ogpm", "--eps", "1", shape).out
    assert "advise --want angle" in told
    assert "--want mean" not in told


@pytest.mark.parametrize("arguments", [("ogpm", "--eps", "1", "--unbiased"), ("minimax", "--eps", "1", "--unbiased")])
def test_designs_for_means_do_not(run: Any, arguments: tuple[str, ...]) -> None:
    assert "--want mean" not in run(*arguments).out


def test_a_file_whose_first_line_may_hold_values_is_asked_about_without_showing_it(
    run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare.csv").write_text("71234,81234\n91234,51234\n")
    monkeypatch.setattr(advise, "_somebody_answers", lambda: True)
    monkeypatch.setattr(sys, "stdin", io.StringIO(f"mean\n{tmp_path / 'bare.csv'}\nsalary\n1\n0,99\n"))
    outcome = run("advise")
    assert outcome.code == 2
    assert "Its column" in outcome.out
    assert not re.search("[5789]1234", outcome.out + outcome.err)
