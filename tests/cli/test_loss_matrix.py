"""`minimax --loss-matrix`: closed forms, labels, sweeps, and every kind of bad file."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechdesign.tables import load_table


@pytest.fixture
def zero_one(tmp_path: Path) -> Path:
    path = tmp_path / "zero_one.csv"
    path.write_text(",a,b,c\na,0,1,1\nb,1,0,1\nc,1,1,0\n")
    return path


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_zero_one_loss_gives_randomised_response(run: Any, zero_one: Path, epsilon: float) -> None:
    document = run("minimax", "--eps", str(epsilon), "--loss-matrix", str(zero_one), "--json").json
    value = 2 / (math.exp(epsilon) + 2)
    assert document["certificate"]["lower"] == pytest.approx(value, rel=1e-6)
    assert document["certificate"]["upper"] == pytest.approx(value, rel=1e-6)
    assert document["certificate"]["valid_for"] == "all mechanisms with these outputs"
    assert document["mechanism"]["outputs"] == [0.0, 1.0, 2.0]
    assert document["mechanism"]["base"] == pytest.approx([1 / (math.exp(epsilon) + 2)] * 3, rel=1e-6)
    rows = {row["name"]: row["worst"] for row in document["comparison"]}
    assert rows["grr"] == pytest.approx(value)
    assert rows["best single output"] == 1.0


def test_rows_and_columns_wear_their_labels(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text(",flu,cold,none\nflu,0,1,3\ncold,1,0,2\nnone,4,2,0\n")
    out = run("minimax", "--eps", "1", "--loss-matrix", str(path)).out
    assert any(line.split() == ["flu", "cold", "none"] for line in out.splitlines())
    assert "with these outputs" in out


def test_labels_with_brackets_dollars_and_control_characters_are_shown(run: Any, tmp_path: Path) -> None:
    path, picture, folder = tmp_path / "m.csv", tmp_path / "m.png", tmp_path / "["
    folder.mkdir()
    path.write_text(",[a],[/b],$c\n[a],0,1,1\n[/b],1,0,1\nx\x1b[31m,1,1,0\n")
    out = folder / "a].json"
    outcome = run("minimax", "--eps", "1", "--loss-matrix", str(path), "--plot", str(picture), "--out", str(out))
    assert outcome.code == 0
    assert any(line.split() == ["[a]", "[/b]", "$c"] for line in outcome.out.splitlines())
    assert "x?[31m" in outcome.out
    assert "\x1b" not in outcome.out
    assert f"saved {out}" in outcome.out
    shown = run("show", str(out)).out
    assert "worst-case loss, a matrix of 3 inputs and 3 outputs" in shown
    assert "checked again" in shown


def test_a_slack_of_the_least_worst_case_is_kept_and_nothing_is_below_the_least(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0,1,4\n1,0,1\n4,1,0\n")
    arguments = ("minimax", "--eps", "1", "--loss-matrix", str(path), "--criterion", "lexicographic", "--slack", "0.1")
    document = run(*arguments, "--json").json
    least = run("minimax", "--eps", "1", "--loss-matrix", str(path), "--json").json["certificate"]["upper"]
    ours = next(row for row in document["comparison"] if row["name"] == "this design")
    assert ours["worst"] <= 1.1 * least * (1 + 1e-9)
    assert all(row["above_optimum"] >= -1e-6 for row in document["comparison"])


def test_one_input_is_not_called_inputs(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.csv"
    path.write_text("0,1\n")
    outcome = run("minimax", "--eps", "1", "--loss-matrix", str(path))
    assert "1 inputs" not in outcome.out


def test_weights_are_a_prior(run: Any, zero_one: Path) -> None:
    arguments = ("minimax", "--eps", "1", "--loss-matrix", str(zero_one), "--criterion", "prior", "--json")
    certain = run(*arguments, "--prior", "1,0,0").json
    assert certain["certificate"]["upper"] == pytest.approx(0.0, abs=1e-9)
    even = run(*arguments, "--prior", "uniform").json
    assert even["certificate"]["upper"] == pytest.approx(2 / (math.e + 2), rel=1e-6)


def test_an_array_file_is_read_and_the_table_drawn(run: Any, tmp_path: Path) -> None:
    path, picture = tmp_path / "m.npy", tmp_path / "table.svg"
    np.save(path, np.abs(np.subtract.outer(np.arange(20.0), np.arange(15.0))))
    outcome = run("minimax", "--eps", "1", "--loss-matrix", str(path), "--plot", str(picture))
    assert outcome.code == 0
    assert "20 inputs" in outcome.out
    assert picture.stat().st_size > 5_000


def test_a_sweep_is_a_table(run: Any, zero_one: Path, tmp_path: Path) -> None:
    picture = tmp_path / "sweep.png"
    arguments = ("minimax", "--sweep", "0.5,1,2", "--loss-matrix", str(zero_one))
    out = run(*arguments, "--plot", str(picture)).out
    assert out.count("+0.0%") == 3
    assert picture.exists()
    designs = run(*arguments, "--json").json["designs"]
    uppers = [design["certificate"]["upper"] for design in designs]
    assert uppers == pytest.approx([2 / (math.exp(epsilon) + 2) for epsilon in (0.5, 1.0, 2.0)], rel=1e-6)


@pytest.mark.parametrize(
    ("content", "extra", "words"),
    [
        ("0,1\n1\n", (), "m.csv"),
        ("0,-1\n1,0\n", (), "at least 0"),
        ("0,nan\n1,0\n", (), "m.csv"),
        ("", (), "m.csv"),
        ("0,1\n1,0\n", ("--criterion", "pareto"), "worst, prior or lexicographic"),
        ("0,1\n1,0\n", ("--prior", "uniform"), "add --criterion prior"),
        ("0,1\n1,0\n", ("--criterion", "prior", "--prior", "0.5"), "2 weights"),
        ("0,1\n1,0\n", ("--criterion", "prior", "--prior", "0.9,0.9"), "sum to 1"),
        ("0,1\n1,0\n", ("--criterion", "prior", "--prior", "normal:0,1"), "2 weights"),
        ("0,1\n1,0\n", ("--loss", "absolute"), "left out with --loss-matrix"),
    ],
)
def test_bad_input_exits_with_2(run: Any, tmp_path: Path, content: str, extra: tuple[str, ...], words: str) -> None:
    path = tmp_path / "m.csv"
    path.write_text(content)
    outcome = run("minimax", "--eps", "1", "--loss-matrix", str(path), *extra)
    assert outcome.code == 2
    assert words in " ".join(outcome.err.split())
    assert outcome.out == ""


def test_a_table_of_a_labelled_matrix_reads_and_writes_its_labels(run: Any, tmp_path: Path) -> None:
    ages = range(18, 26)
    rows = [",".join(["", *map(str, ages)]), *(",".join(map(str, [a, *(abs(a - b) for b in ages)])) for a in ages)]
    (tmp_path / "loss.csv").write_text("\n".join(rows))
    design, table, told = (str(tmp_path / name) for name in ("l.json", "t.json", "r.csv"))
    matrix = ["--loss-matrix", str(tmp_path / "loss.csv")]
    assert run("minimax", "--eps", "9", *matrix, "--out", design).code == 0
    assert run("table", design, "--out", table).code == 0
    assert load_table(table).labels.inputs == tuple(map(str, ages))
    (tmp_path / "ages.csv").write_text("age\n" + "18\n" * 300 + "25\n" * 700)
    outcome = run("apply", table, "--in", str(tmp_path / "ages.csv"), "--column", "age", "--out", told)
    assert outcome.code == 0, outcome.err
    assert set((tmp_path / "r.csv").read_text().split()[1:]) <= {f'"{age}"' for age in ages}
    found = run("estimate", table, "--in", told, "--json").json
    shares = dict(zip(found["labels"], found["estimates"], strict=True))
    assert shares["18"] == pytest.approx(0.3, abs=0.03)
    assert shares["25"] == pytest.approx(0.7, abs=0.03)


@pytest.mark.parametrize("labels", ["abc", ["a"], [1, 2], ["a", "a"]])
def test_labels_of_a_design_file_that_are_none_are_refused(run: Any, tmp_path: Path, labels: Any) -> None:
    (tmp_path / "loss.csv").write_text(",x,y\na,0,1\nb,1,0\n")
    design = tmp_path / "l.json"
    run("minimax", "--eps", "1", "--loss-matrix", str(tmp_path / "loss.csv"), "--out", str(design))
    document = json.loads(design.read_text())
    for side in ("input_labels", "output_labels"):
        design.write_text(json.dumps(document | {"problem": document["problem"] | {side: labels}}))
        outcome = run("table", str(design))
        assert outcome.code == 2
        assert "labels" in outcome.err
