"""The example data are what their script makes, and the command writes them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mechdesign import examples
from mechdesign.cli import main
from mechdesign.examples.made import MADE, text_of


def exit_code(*arguments: str) -> int:
    with pytest.raises(SystemExit) as stop:
        main(["examples", *arguments])
    return int(stop.value.code or 0)


@pytest.mark.parametrize("name", sorted(MADE))
def test_shipped_data_are_what_the_script_makes(name: str) -> None:
    assert examples.content(name).decode() == text_of(name)


def test_every_file_is_made_and_described() -> None:
    assert set(examples.NAMES) == set(MADE)


@pytest.mark.parametrize("name", sorted(MADE))
def test_descriptions_name_the_number_of_rows_or_groups_and_every_column(name: str) -> None:
    header, *rows = examples.content(name).decode().splitlines()
    described = examples.NAMES[name]
    assert all(column in described for column in header.split(","))
    assert f"{len(rows):,}" in described or "20 walks of 15" in described


def test_the_command_writes_every_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--out", str(tmp_path / "data"), "--json") == 0
    assert set(json.loads(capsys.readouterr().out)["files"]) == {str(tmp_path / "data" / name) for name in MADE}
    assert {path.name: path.read_bytes() for path in (tmp_path / "data").iterdir()} == {
        name: examples.content(name) for name in MADE
    }


def test_the_command_can_be_run_again_and_replaces_nothing_else(tmp_path: Path) -> None:
    assert exit_code("--out", str(tmp_path)) == exit_code("--out", str(tmp_path)) == 0
    (tmp_path / "ages.csv").write_text("mine")
    assert exit_code("--out", str(tmp_path)) == 2
    assert (tmp_path / "ages.csv").read_text() == "mine"
    assert exit_code("--out", str(tmp_path), "--force") == 0
    assert (tmp_path / "ages.csv").read_bytes() == examples.content("ages.csv")


def test_a_file_where_the_folder_should_be_is_bad_input(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "taken").write_text("")
    assert exit_code("--out", str(tmp_path / "taken")) == 2
    assert "output folder must be a folder" in capsys.readouterr().err
