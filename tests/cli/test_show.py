"""`show`: what a saved file holds, checked again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cvxpy
import numpy as np
import pytest

from mechdesign.errors import NoAnswer
from mechdesign.methods.registry import solve
from mechdesign.words.finite_losses import Matrix
from mechdesign.words.losses import Squared
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import Ball
from tests.methods.problems import custom, numbers, vectors


@pytest.fixture
def saved(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "squared", "--out", str(path)).code == 0
    return path


def test_pieces_errors_and_certificate_are_shown(run: Any, saved: Path) -> None:
    outcome = run("show", str(saved))
    assert outcome.code == 0
    assert "1.50933" in outcome.out
    assert "0.217299" in outcome.out
    assert "squared error, worst case; checked again" in outcome.out


def test_a_claimed_certificate_is_not_called_checked(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "power:1.5", "--at", "0.2", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert "at 0.2; upper end computed again, lower end as claimed in the file" in outcome.out
    assert "checked again" not in outcome.out


def test_json_holds_errors_for_both_losses(run: Any, saved: Path) -> None:
    document = run("show", str(saved), "--json").json
    errors = {row["loss"]: row["worst"] for row in document["errors"]}
    assert errors["squared"] == pytest.approx(0.2172985, abs=1e-7)
    assert errors["absolute"] > 0.37754


def test_the_loss_that_was_asked_about_is_among_the_errors(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "1", "--loss", "power:1.5", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert "average (uniform)" in outcome.out
    document = run("show", str(path), "--json").json
    asked = next(row for row in document["errors"] if row["loss"] == "power:1.5")
    assert asked["worst"] == pytest.approx(document["certificate"]["upper"])


def test_the_density_is_drawn(run: Any, saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "density.pdf"
    assert run("show", str(saved), "--plot", str(path)).code == 0
    assert path.read_bytes().startswith(b"%PDF")


def test_a_polar_design_is_shown_coordinate_by_coordinate(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "polar.json"
    assert run("ogpm", "--eps", "6", "--polar", "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert outcome.code == 0
    assert outcome.out.count("Pieces") == 2


def test_a_vector_is_shown_and_drawn(run: Any, tmp_path: Path) -> None:
    path, picture = tmp_path / "ball.json", tmp_path / "ball.png"
    solve(vectors(2.0, Ball(10))).save(path)
    outcome = run("show", str(path), "--plot", str(picture))
    assert outcome.code == 0
    assert "ball of R^10 -> sphere of R^10" in outcome.out
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("plot", str(path), "--kind", "error", "--out", str(tmp_path / "error.png")).code == 2


@pytest.fixture(params=["2", "4"], ids=["pairs", "groups"])
def joint(request: pytest.FixtureRequest, run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "joint.json"
    arguments = ("--eps", "1", "--users", "1000", "--colluders", "50", "--prior", "beta:2,8", "--group", request.param)
    assert run("jrr", *arguments, "--out", str(path)).code == 0
    return path


def test_a_joint_response_is_shown_as_it_was_when_it_was_designed(run: Any, joint: Path, tmp_path: Path) -> None:
    arguments = ("--eps", "1", "--users", "1000", "--colluders", "50", "--prior", "beta:2,8")
    designed = run("jrr", *arguments, "--group", str(json.loads(joint.read_text())["problem"]["among"]["group"])).out
    shown = run("show", str(joint))
    assert shown.code == 0
    assert shown.out.startswith(designed)
    assert "derived again from the file's problem and law; so was its lower bound" in shown.out


def test_a_joint_response_is_shown_as_json_and_drawn(run: Any, joint: Path, tmp_path: Path) -> None:
    picture = tmp_path / "joint.png"
    outcome = run("show", str(joint), "--json", "--plot", str(picture))
    assert outcome.code == 0
    kept = ("problem", "mechanism", "certificate", "report")
    saved = {name: part for name, part in json.loads(joint.read_text()).items() if name in kept}
    shown = outcome.json
    for name, part in saved.items():  # what the file says, and more beside it
        assert shown[name] == (shown[name] | part if isinstance(part, dict) else part)
    assert picture.stat().st_size > 30_000


def test_a_joint_response_with_a_false_epsilon_exits_with_2(run: Any, joint: Path) -> None:
    document = json.loads(joint.read_text())
    document["certificate"]["privacy"]["conditional_epsilons"][1] = 0.1
    joint.write_text(json.dumps(document))
    outcome = run("show", str(joint))
    assert outcome.code == 2
    assert "privacy conditional_epsilons must be" in outcome.err
    assert outcome.out == ""


def test_a_joint_response_given_to_table_is_refused_with_what_to_do_instead(run: Any, joint: Path) -> None:
    outcome = run("table", str(joint))
    assert outcome.code == 2
    assert "no table holds that" in " ".join(outcome.err.split())
    assert "--run-parties" in outcome.err


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"format": 1}',
        b'{"a": 1, "a": 2}',
        b"NaN",
        b"{} trailing",
        b"[" * 100_000,
        b'{"format": "mechdesign joint response"}',
        b'{"format": "mechdesign joint response", "version": 1, "problem": {}}',
    ],
    ids=range(11),
)
def test_corrupt_files_exit_with_2(run: Any, content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "corrupt.json"
    path.write_bytes(content)
    outcome = run("show", str(path))
    assert outcome.code == 2
    assert "Traceback" not in outcome.err
    assert outcome.out == ""


def test_a_tampered_density_exits_with_2(run: Any, saved: Path) -> None:
    document = json.loads(saved.read_text())
    document["mechanism"]["high"] *= 1.5
    saved.write_text(json.dumps(document))
    outcome = run("show", str(saved))
    assert outcome.code == 2
    assert "certificate" in outcome.err


def test_a_missing_file_exits_with_2(run: Any, tmp_path: Path) -> None:
    outcome = run("show", str(tmp_path / "nothing.json"))
    assert outcome.code == 2
    assert "readable" in outcome.err


def test_a_circular_power_is_among_the_errors(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    assert run("ogpm", "--eps", "2", "--circular", "--loss", "power:1.5", "--out", str(path)).code == 0
    document = run("show", str(path), "--json").json
    asked = next(row for row in document["errors"] if row["loss"] == "circular power:1.5")
    assert asked["worst"] == pytest.approx(document["certificate"]["upper"])


FORGERIES = sorted((Path(__file__).parents[1] / "methods" / "forgeries").glob("*.json"))


@pytest.mark.parametrize("path", FORGERIES, ids=lambda path: path.stem)
def test_a_forgery_exits_with_2_and_prints_nothing(run: Any, path: Path) -> None:
    outcome = run("show", str(path))
    assert outcome.code == 2
    assert outcome.out == ""
    assert "Traceback" not in outcome.err


def test_the_prior_of_a_design_is_named(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "prior.json"
    arguments = ("--prior", "normal:0.3,0.1", "--criterion", "prior", "--gap", "1e-3")
    assert run("minimax", "--eps", "1", *arguments, "--out", str(path)).code == 0
    outcome = run("show", str(path))
    assert "absolute error, average under the prior; prior: normal(0.3, 0.1) on [0, 1] (its " in outcome.out
    assert run("show", str(path), "--json").json["checked"]["prior"].startswith("normal(0.3, 0.1) on [0, 1]")


def test_what_nothing_decides_is_told_apart(run: Any, tmp_path: Path) -> None:
    matrix = np.array([[0.0, 1.0], [2.0, 0.0]])
    design = custom(1.0, (0, 1), (0, 1), lambda q: cvxpy.sum(cvxpy.multiply(matrix, q)))
    path = design.save(tmp_path / "custom.json")
    document = json.loads(path.read_text())
    document["problem"]["loss"]["objective"] = "the variance"
    document["mechanism"]["name"] = "the best of all mechanisms"
    path.write_text(json.dumps(document))
    outcome = run("show", str(path))
    assert "certificate (the linear objective with the coefficients in the file; coefficients: sha256 " in outcome.out
    assert "named in the file, not checked: the objective is called 'the variance'" in outcome.out
    assert "custom optimum, called 'the best of all mechanisms' (named in the file): " in outcome.out
    assert "None" not in outcome.out
    assert "objective" in run("show", str(path), "--json").json["checked"]["not_checked"]


@pytest.mark.parametrize("name", ["OGPM", "unbiased optimum", "minimax", "finite optimum", "PASS privacy loss: 0.1"])
def test_no_name_in_a_file_is_printed_as_if_it_were_decided(run: Any, tmp_path: Path, name: str) -> None:
    """Whatever a workload's table is called, what it is follows from problem, mechanism and evidence."""
    path = tmp_path / "w.json"
    assert run("workload", "--queries", "prefix", "--size", "3", "--eps", "1", "--out", str(path)).code == 0
    document = json.loads(path.read_text())
    assert run("show", str(path)).out.startswith("optimum for prefix: {0, 1, 2} -> ")
    document["mechanism"]["name"] = name
    path.write_text(json.dumps(document))
    shown = run("show", str(path)).out
    assert shown.startswith(f"optimum for prefix, called {name!r} (named in the file): ")
    assert shown.count(name) == 1


def test_a_design_far_from_the_bound_is_called_by_its_kind(run: Any, tmp_path: Path) -> None:
    with pytest.raises(NoAnswer) as stopped:
        solve(numbers(2.5, Squared()), gap=1e-6, most_outputs=65)
    assert stopped.value.design is not None
    path = stopped.value.design.save(tmp_path / "loose.json")
    document = json.loads(path.read_text())
    document["report"]["details"] = {}
    path.write_text(json.dumps(document))
    assert run("show", str(path)).out.startswith("window mechanism: [0, 1] -> ")


def test_a_claimed_objective_is_said_to_be_claimed_throughout(run: Any, tmp_path: Path) -> None:
    path = custom(1.0, (0, 1), (0, 1), lambda q: cvxpy.log_sum_exp(q)).save(tmp_path / "custom.json")
    outcome = run("show", str(path))
    assert "an objective that is only named in the file; not proven, " in outcome.out
    assert "(named in the file); bounds as claimed in the file" in outcome.out
    assert run("show", str(path), "--json").json["checked"]["ends"] == []


def test_labels_are_shown_as_the_files_own(run: Any, tmp_path: Path) -> None:
    labels = {"input_labels": ("a", "b"), "output_labels": ("c", "d")}
    problem = Problem(loss=Matrix([[0.0, 1.0], [2.0, 0.0]], **labels), privacy=Pure(1.0))
    path = solve(problem).save(tmp_path / "finite.json")
    assert "not checked: the labels of inputs and outputs" in run("show", str(path)).out


def test_what_a_report_of_a_table_tells_is_beside_what_its_size_and_loss_allow(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "design.json"
    epsilon = float(np.log(3))
    solve(Problem(loss=[[0.0, 1.0], [1.0, 0.0]], privacy=Pure(epsilon))).save(path)
    (told,) = run("show", str(path), "--json").json["mutual_information"]
    response = 0.75 * np.log(1.5) + 0.25 * np.log(0.5)  # randomised response is optimal
    assert told["lower"] <= response + 1e-9
    assert told["upper"] >= response - 1e-9
    assert told["most"] == pytest.approx(np.log(2))
    assert "mutual information" in run("show", str(path)).out
