"""`export --to coq` and `verify --formal`: theorems about a table, written, and checked where Coq is there."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def saved(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", str(path)).code == 0
    return path


def test_theorems_are_written_with_the_theories(run: Any, saved: Path, tmp_path: Path) -> None:
    document = run("export", str(saved), "--to", "coq", "--out", str(tmp_path / "out"), "--json").json
    assert document["language"] == "coq"
    assert sorted(document["files"]) == sorted(str(path) for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert Path(document["files"][0]).name == f"Table_{document['sha256'][:16]}.v"


def test_nobody_is_told_that_what_was_written_is_checked(run: Any, saved: Path, tmp_path: Path) -> None:
    outcome = run("export", str(saved), "--to", "coq", "--out", str(tmp_path / "out"))
    assert outcome.code == 0
    assert "not checked yet" in outcome.out
    assert "PASS" not in outcome.out


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("export", "--to", "coq"), "name a folder"),
        (("export", "--to", "coq", "--out", "out", "--package", "p"), "be left out with --to coq"),
        (("export", "--to", "c", "--out", "out", "--design", "{table}"), "come with --to coq"),
        (("export", "--to", "coq", "--out", "out", "--design", "{table}"), "tables are read by verify"),
        (("verify", "--design", "{table}"), "come with --formal, or with --source"),
    ],
)
def test_options_that_do_not_fit_are_bad_input(run: Any, saved: Path, arguments: tuple[str, ...], rule: str) -> None:
    command, *options = (text.format(table=saved) for text in arguments)
    outcome = run(command, str(saved), *options)
    assert outcome.code == 2
    assert rule in " ".join(outcome.err.split())


def test_whether_a_file_of_coq_is_what_export_writes_of_this_table_is_decided(
    run: Any, saved: Path, tmp_path: Path
) -> None:
    written = run("export", str(saved), "--to", "coq", "--out", str(tmp_path / "out"), "--json").json["files"]
    sources = [path for path in written if path.endswith(".v")]
    assert len(sources) > 8
    for source in (sources[0], next(path for path in sources if path.endswith("Private.v"))):
        assert run("verify", str(saved), "--source", source, "--json").json["verdict"] == "PASS"
        text = Path(source).read_text()
        Path(source).write_text(text.replace("Qed", "Admitted", 1))
        outcome = run("verify", str(saved), "--source", source)
        assert outcome.code == 1
        assert "Admitted" in outcome.out


def test_a_file_of_another_name_is_not_what_its_name_says(run: Any, saved: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    table, *_ = run("export", str(saved), "--to", "coq", "--out", str(out), "--json").json["files"]
    sums, private = (out / "theories" / f"{name}.v" for name in ("Sums", "Private"))
    text = sums.read_bytes()
    for path in (Path(table), private):
        path.write_bytes(text)
        assert run("verify", str(saved), "--source", str(path)).code == 1
    assert run("verify", str(saved), "--source", str(sums)).code == 0


def test_a_file_with_a_floor_is_compared_with_that_of_the_table_and_its_design(run: Any, tmp_path: Path) -> None:
    design, path, out = (str(tmp_path / name) for name in ("d.json", "t.json", "out"))
    assert run("minimax", "--eps", "1", "--gap", "1e-2", "--out", design).code == 0
    assert run("table", design, "--out", path).code == 0
    source = run("export", path, "--to", "coq", "--design", design, "--out", out, "--json").json["files"][0]
    assert run("verify", path, "--source", source, "--design", design, "--json").json["verdict"] == "PASS"
    Path(source).write_text(Path(source).read_text().replace("l_gap := (-", "l_gap := (-1"))
    assert run("verify", path, "--source", source, "--design", design).code == 1


def test_without_coq_the_next_step_is_said(run: Any, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None)
    outcome = run("verify", str(saved), "--formal")
    assert outcome.code == 2
    assert "apt-get install coq" in outcome.err


@pytest.mark.slow
def test_what_coq_accepted_is_said_as_coq_prints_it(run: Any, saved: Path) -> None:
    if shutil.which("coqchk") is None:
        pytest.skip("Coq is not installed")
    document = run("verify", str(saved), "--formal", "--json").json
    assert document["verdict"] == "PASS"
    assert document["formal"]["statements"][0].endswith("chance hash table S x <= exp (1 / 1) * chance hash table S y")
    assert len(document["formal"]["axioms"]) == 4
