"""`export`: a table becomes sources in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest


@pytest.fixture
def saved(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "t.json"
    assert run("table", "--eps", "1", "--mechanism", "duchi", "--domain", "-1,1", "--out", str(path)).code == 0
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    path = tmp_path / "out"
    path.mkdir()
    return path


def test_sources_are_written_and_listed(run: Any, saved: Path, folder: Path) -> None:
    outcome = run("export", str(saved), "--to", "rust", "--out", str(folder))
    assert outcome.code == 0
    assert len(list(folder.glob("sampler_*.rs"))) == 1
    assert all(str(path) in outcome.out for path in folder.iterdir())


def test_json_names_the_table_and_the_files(run: Any, saved: Path, folder: Path) -> None:
    document = run("export", str(saved), "--to", "c", "--out", str(folder), "--json").json
    assert document["language"] == "c"
    assert document["epsilon"] == 1.0
    assert sorted(document["files"]) == sorted(map(str, folder.iterdir()))
    assert all(document["sha256"][:8] in Path(name).name for name in document["files"])


def test_existing_files_need_force(run: Any, saved: Path, folder: Path) -> None:
    command = ("export", str(saved), "--to", "sql", "--out", str(folder))
    assert run(*command).code == 0
    for path in folder.iterdir():
        path.write_text("another file")
    outcome = run(*command)
    assert outcome.code == 2
    assert "pass --force" in outcome.err
    assert run(*command, "--force").code == 0


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--to", "cobol"), "be one of rust, c, python"),
        (("--to", "c", "--out", "/dev/null/deeper"), "be a folder, not a file"),
    ],
)
def test_unknown_languages_and_impossible_folders_are_bad_input(
    run: Any, saved: Path, folder: Path, arguments: tuple[str, ...], rule: str
) -> None:
    outcome = run("export", str(saved), "--out", str(folder), *arguments)
    assert outcome.code == 2
    assert rule in outcome.err
    assert list(folder.iterdir()) == []


def test_a_tampered_table_is_not_exported(run: Any, saved: Path, folder: Path) -> None:
    saved.write_bytes(saved.read_bytes().replace(b'"starts":[', b'"starts":[1,'))
    outcome = run("export", str(saved), "--to", "c", "--out", str(folder))
    assert outcome.code == 2
    assert "pass its check" in outcome.err
    assert list(folder.iterdir()) == []


def test_a_folder_and_those_above_it_are_created(run: Any, saved: Path, tmp_path: Path) -> None:
    folder = tmp_path / "a" / "b" / "c"
    assert run("export", str(saved), "--to", "c", "--out", str(folder)).code == 0
    assert list(folder.glob("*.c"))


def test_two_languages_share_a_folder_and_its_vectors(run: Any, saved: Path, folder: Path) -> None:
    for language in ("python", "opendp", "c"):
        assert run("export", str(saved), "--to", language, "--out", str(folder)).code == 0
    assert len(list(folder.glob("*_vectors.txt"))) == 1


def test_what_goes_in_and_what_comes_out_is_said(run: Any, saved: Path, tmp_path: Path, folder: Path) -> None:
    said = run("export", str(saved), "--to", "c", "--out", str(folder)).out
    assert "in: a number from -1 to 1" in said
    assert "out: one of the numbers -2.16" in said
    labelled = str(tmp_path / "l.json")
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", labelled).code == 0
    outcome = run("export", labelled, "--to", "javascript", "--out", str(folder))
    assert outcome.code == 0
    assert 'in: one of the 2 input labels: "no", "yes"' in outcome.out
    assert 'out: one of the 2 output labels: "no", "yes"' in outcome.out
    document = run("export", labelled, "--to", "javascript", "--out", str(folder), "--json").json
    assert document["input"] == "one of the 2 input labels"
    assert document["boundaries_left_out"] == 0


def test_boundaries_that_are_left_out_are_told(
    run: Any, saved: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mechdesign.cli.export.boundaries_left_out", lambda table: 7)
    outcome = run("export", str(saved), "--to", "c", "--out", str(folder))
    assert "7 boundaries are left out" in outcome.err
    assert run("export", str(saved), "--to", "c", "--out", str(folder), "--json").json["boundaries_left_out"] == 7


def test_verify_compares_a_source_with_its_table(run: Any, saved: Path, folder: Path) -> None:
    assert run("export", str(saved), "--to", "python", "--out", str(folder)).code == 0
    (source,) = (path for path in folder.glob("*.py") if "replay" not in path.name)
    good = run("verify", str(saved), "--source", str(source))
    assert good.code == 0
    assert f"PASS {source.name} is an export of this table" in good.out
    source.write_text(source.read_text().replace("number < size", "number <= size"))
    bad = run("verify", str(saved), "--source", str(source))
    assert bad.code == 1
    assert f"FAIL {source.name}, line " in bad.out
    answer = run("verify", str(saved), "--source", str(source), "--json")
    assert answer.code == 1
    assert answer.json["verdict"] == "FAIL"
    assert "number <= size" in answer.json["failures"][0]
    assert run("verify", str(saved), "--source", str(folder / "none.py")).code == 2


@pytest.fixture
def labelled(run: Any, tmp_path: Path) -> Path:
    path = tmp_path / "Smokes-now.json"
    assert run("table", "--eps", "1", "--mechanism", "grr", "--labels", "no,yes", "--out", str(path)).code == 0
    return path


def test_a_package_of_two_tables_is_written_and_recognised(
    run: Any, saved: Path, labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("export", str(saved), str(labelled), "--to", "rust", "--package", "survey")
    assert outcome.code == 0
    assert "smokes_now: " in outcome.out
    assert "'randomised response' (named in the file)" in outcome.out
    assert 'in: one of the 2 input labels: "no", "yes"' in outcome.out
    assert {path.name for path in (tmp_path / "survey" / "tables").iterdir()} == {"t.json", "smokes_now.json"}
    for table in (saved, labelled):
        good = run("verify", str(table), "--source", "survey")
        assert good.code == 0
        assert "PASS survey is an export of this table" in good.out
    one = run("verify", str(saved), "--source", "survey/src/lib.rs")
    assert one.code == 0
    assert "PASS lib.rs is an export of this table" in one.out
    (tmp_path / "survey" / "build.rs").touch()
    bad = run("verify", str(saved), "--source", "survey")
    assert bad.code == 1
    assert "FAIL survey: build.rs is no file of the export" in bad.out
    answer = run("verify", str(saved), "--source", "survey", "--json")
    assert (answer.code, answer.json["verdict"]) == (1, "FAIL")
    outside = run("verify", str(saved), "--source", "survey/build.rs")
    assert outside.code == 1


def test_a_package_in_json_names_its_tables(run: Any, labelled: Path, tmp_path: Path) -> None:
    place = tmp_path / "deep" / "er"
    document = run("export", str(labelled), "--to", "swift", "--package", "Survey", "--out", str(place), "--json").json
    assert (document["language"], document["package"], document["folder"]) == ("swift", "Survey", str(place))
    (table,) = document["tables"]
    assert (table["name"], table["input"], table["boundaries_left_out"]) == (
        "smokes_now",
        "one of the 2 input labels",
        0,
    )
    assert sorted(document["files"]) == sorted(str(path) for path in place.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--to", "rust", "--package", "fn"), "not have 'fn' in it, which Cargo has already"),
        (("--to", "python", "--package", "json"), "not have 'json' in it, which Python has already"),
        (("--to", "swift", "--package", "survey"), "be a capital letter"),
        (("--to", "javascript", "--package", "survey"), "be one of swift, kotlin, typescript"),
        (("--to", "swift", "--out", "here"), "add --package NAME"),
        (("--to", "c"), "name a folder for the sources"),
        (("--to", "c", "--package", "survey", "--out", "taken"), "not exist yet"),
        (("--to", "c", "--package", "survey", "--out", "taken", "--force"), "not exist yet"),
        (("--to", "c", "--package", "survey", "--out", "taken/file/deeper"), "be writable"),
    ],
)
def test_packages_that_cannot_be_are_bad_input(
    run: Any, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], rule: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "file").touch()
    outcome = run("export", str(saved), *arguments)
    assert outcome.code == 2
    assert rule in outcome.err
    assert {path.name for path in tmp_path.rglob("*")} == {"t.json", "taken", "file"}


def test_several_tables_need_a_package_and_names_of_their_own(
    run: Any, saved: Path, labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outcome = run("export", str(saved), str(labelled), "--to", "c", "--out", "here")
    assert outcome.code == 2
    assert "be one table where no package is asked for" in outcome.err
    outcome = run("export", str(saved), str(saved), "--to", "c", "--package", "survey")
    assert outcome.code == 2
    assert "have another name than the other table called t" in outcome.err


def test_a_folder_that_is_no_package_is_bad_input(run: Any, saved: Path, tmp_path: Path) -> None:
    outcome = run("verify", str(saved), "--source", str(tmp_path))
    assert outcome.code == 2
    assert "mechdesign-package.json" in outcome.err
