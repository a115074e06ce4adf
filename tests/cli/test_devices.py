"""`export --reports` and `verify --device`: packages with a state, and what all reports lose together."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from mechdesign.errors import InvalidInput

LOSSES = ("one value changed", "all values changed", "at most one change each")


@pytest.fixture
def tables(run: Any, tmp_path: Path) -> tuple[str, str]:
    paths = tuple(str(tmp_path / name) for name in ("once.json", "again.json"))
    for path, epsilon in zip(paths, ("2", "1"), strict=True):
        made = run("table", "--eps", epsilon, "--mechanism", "grr", "--labels", "no,yes", "--out", path)
        assert made.code == 0
    return paths


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


def test_a_device_is_written_and_its_losses_told(run: Any, tables: tuple[str, str], folder: Path) -> None:
    once, again = tables
    command = (
        "export",
        once,
        "--again",
        again,
        "--values",
        "2",
        "--reports",
        "7",
        "--to",
        "rust",
        "--package",
        "kept",
        "--out",
        str(folder),
    )
    outcome = run(*command)
    assert outcome.code == 0
    assert (
        "remembers 2 values, randomised again by 'randomised response' (named in the file); 7 reports a period"
        in outcome.out
    )
    assert all(f"{relation}: " in outcome.out for relation in LOSSES)
    assert outcome.out.count("(exactly)") == 3
    assert f"files to {folder}" in outcome.out


def test_json_holds_the_device_and_its_losses(run: Any, tables: tuple[str, str], folder: Path) -> None:
    document = run(
        "export", tables[0], "--reports", "3", "--to", "c", "--package", "kept", "--out", str(folder), "--json"
    ).json
    assert sorted(document["files"]) == sorted(str(path) for path in folder.rglob("*") if path.is_file())
    device = document["device"]
    assert (device["again"], device["values"], device["reports"]) == (None, 0, 3)
    assert [loss["relation"] for loss in device["losses"]] == list(LOSSES)
    assert all(loss["exact"] and loss["upper"] == pytest.approx(6.0) for loss in device["losses"])


def test_memory_without_a_second_table_is_told_to_show_changes(run: Any, tables: tuple[str, str], folder: Path) -> None:
    command = (
        "export",
        tables[0],
        "--values",
        "2",
        "--reports",
        "3",
        "--to",
        "c",
        "--package",
        "kept",
        "--out",
        str(folder),
    )
    assert "at most one change each: no bound" in run(*command).out
    shutil.rmtree(folder)
    assert run(*command, "--json").json["device"]["losses"][2]["upper"] == "inf"


def test_a_device_file_is_verified_with_its_tables_and_its_sources(
    run: Any, tables: tuple[str, str], folder: Path
) -> None:
    once, again = tables
    run(
        "export",
        once,
        "--again",
        again,
        "--values",
        "2",
        "--reports",
        "3",
        "--to",
        "python",
        "--package",
        "kept",
        "--out",
        str(folder),
    )
    file, source = folder / "device.json", folder / "src" / "kept" / "mechdesign_runtime" / "device.py"
    command = ("verify", once, "--again", again, "--device", str(file))
    good = run(*command, "--source", str(source))
    assert good.code == 0
    assert f"PASS {source.name} is an export of this table" in good.out
    assert run(*command, "--json").json["device"]["reports"] == 3
    source.write_text(source.read_text().replace("made + 1", "made"))
    bad = run(*command, "--source", str(source))
    assert bad.code == 1
    assert "differs from the export in line" in bad.out


def test_an_edited_device_file_is_bad_input(run: Any, tables: tuple[str, str], folder: Path) -> None:
    run("export", tables[0], "--reports", "3", "--to", "python", "--package", "kept", "--out", str(folder))
    file = folder / "device.json"
    file.write_text(file.read_text().replace('"reports":3', '"reports":30'))
    outcome = run("verify", tables[0], "--device", str(file))
    assert outcome.code == 2
    assert "hash of its entries" in outcome.err


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("--values", "2"), "come with --reports"),
        (("--again", "AGAIN"), "come with --reports"),
        (("--reports", "0"), "whole number from 1 to 10000"),
        (("--reports", "3", "--values", "-1"), "whole number from 0 to 4096"),
        (("--reports", "3", "--again", "AGAIN"), "at least 1"),
        (("--reports", "3", "--values", "1", "--again", "OTHER"), "take every output"),
        (("--reports", "3", "--to", "sql"), "where a device keeps a state"),
        (("--reports", "3", "--package", ""), "be a small letter"),
    ],
)
def test_what_is_no_device_is_bad_input(
    run: Any, tables: tuple[str, str], folder: Path, tmp_path: Path, arguments: tuple[str, ...], rule: str
) -> None:
    other = str(tmp_path / "other.json")
    assert run("table", "--eps", "1", "--mechanism", "grr", "--domain", "3..5", "--out", other).code == 0
    named = {"AGAIN": tables[1], "OTHER": other}
    said = [named.get(word, word) for word in arguments]
    outcome = run("export", tables[0], "--to", "python", "--package", "kept", "--out", str(folder), *said)
    assert outcome.code == 2
    assert rule in outcome.err
    assert not folder.exists()


def test_a_second_table_needs_the_device_file(run: Any, tables: tuple[str, str]) -> None:
    outcome = run("verify", tables[0], "--again", tables[1])
    assert outcome.code == 2
    assert "come with --device" in outcome.err


# -- packages ----------------------------------------------------------------------------------------------------------


def test_a_package_with_a_device_is_written_told_and_verified(
    run: Any, tables: tuple[str, str], folder: Path, tmp_path: Path
) -> None:
    once, again = tables
    said = ("--to", "rust", "--package", "survey", "--again", again, "--values", "2", "--reports", "3")
    outcome = run("export", once, *said, "--out", str(folder))
    assert outcome.code == 0
    assert "package survey, for rust" in outcome.out
    assert (
        "remembers 2 values, randomised again by 'randomised response' (named in the file); 3 reports a period"
        in outcome.out
    )
    for table in tables:
        good = run("verify", table, "--source", str(folder))
        assert (good.code, f"PASS {folder.name} is an export of this table" in good.out) == (0, True)
    device = ("--again", again, "--device", str(folder / "device.json"))
    assert run("verify", once, *device, "--source", str(folder)).code == 0
    document = run("export", once, *said, "--out", str(tmp_path / "json"), "--json").json
    assert document["device"]["reports"] == 3
    assert [table["name"] for table in document["tables"]] == ["once", "again"]


def test_a_collection_has_no_device(run: Any, tables: tuple[str, str], tmp_path: Path) -> None:
    file = str(tmp_path / "both.json")
    assert run("collection", f"a={tables[0]}", f"b={tables[1]}", "--name", "both", "--out", file).code == 0
    outcome = run("export", file, "--to", "c", "--package", "survey", "--reports", "3")
    assert (outcome.code, "each attribute of a collection has a device of its own" in outcome.err) == (2, True)


def test_a_package_of_another_device_is_none_of_this(run: Any, tables: tuple[str, str], tmp_path: Path) -> None:
    folders = [tmp_path / name for name in ("three", "four")]
    for folder, reports in zip(folders, ("3", "4"), strict=True):
        run("export", tables[0], "--to", "c", "--package", "survey", "--reports", reports, "--out", str(folder))
    file = str(folders[0] / "device.json")
    for source in (folders[1], folders[1] / "README.md"):
        outcome = run("verify", tables[0], "--device", file, "--source", str(source))
        assert outcome.code == 1
        assert "is a package of another device, or of none" in outcome.out


@pytest.mark.parametrize(
    ("arguments", "rule"),
    [
        (("ONCE", "AGAIN", "--to", "c", "--package", "survey"), "each question has a device of its own"),
        (("ONCE", "--to", "sql", "--package", "survey"), "has no storage of one device"),
        (("ONCE", "--to", "wasm", "--package", "survey"), "take --to typescript"),
        (("ONCE", "--to", "kotlin", "--out", "out"), "add --package NAME"),
        (("ONCE", "--to", "c"), "add --package NAME"),
    ],
)
def test_what_is_no_package_with_a_device_is_bad_input(
    run: Any, tables: tuple[str, str], arguments: tuple[str, ...], rule: str
) -> None:
    named = {"ONCE": tables[0], "AGAIN": tables[1]}
    outcome = run("export", *(named.get(word, word) for word in arguments), "--reports", "3")
    assert outcome.code == 2
    assert rule in outcome.err


def test_a_memory_for_fewer_values_than_there_are_says_what_it_does_to_estimates(
    run: Any, tables: tuple[str, str], folder: Path
) -> None:
    once, again = tables
    command = ("export", once, "--again", again, "--reports", "7", "--to", "python", "--package", "survey")
    one = run(*command, "--values", "1", "--out", str(folder))
    assert "1 value of 2: a further one is reported as the last one remembered" in one.out
    assert "42.9%" in one.out  # 6/7 of 1/2
    two = run(*command, "--values", "2", "--out", str(folder / "two"))
    assert "a further one" not in two.out
    said = run(*command, "--values", "1", "--out", str(folder / "three"), "--json").json["device"]
    assert (said["forgets"], said["mistaken"]) == (True, pytest.approx(3 / 7))


def test_losses_that_fail_leave_no_file(
    run: Any, tables: tuple[str, str], folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise InvalidInput("losses", "none", "be known")

    monkeypatch.setattr("mechdesign.cli.devices.losses_together", broken)
    command = ("export", tables[0], "--reports", "3", "--to", "python", "--package", "survey", "--out", str(folder))
    outcome = run(*command)
    assert (outcome.code, "be known" in outcome.err) == (2, True)
    assert not folder.exists()
