"""Data files of users: what can be read in two ways is told, in every command that reads one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

COMMANDS = {
    "bench": ("bench", "-e", "1", "-p", "grr", "-m", "raw", "-r", "1", "-d"),
    "budget": ("budget", "-p", "grr", "--metric", "mae", "--at-most", "0.2", "--data"),
    "capacity": ("capacity", "-p", "grr", "--capacity", "100000", "--metric", "fp", "--tau", "0.1", "--data"),
}


@pytest.fixture(params=COMMANDS)
def ask(request: pytest.FixtureRequest, run: Any, tmp_path: Path) -> Any:
    def command(text: str, *more: str) -> Any:
        path = tmp_path / "data.csv"
        path.write_text(text)
        return run(*COMMANDS[request.param], str(path), *more, "--json", "--quiet")

    return command


def test_a_header_above_numbers_is_taken_and_told(ask: Any) -> None:
    text = "age\n" + "3\n4\n5\n" * 200
    guessed = ask(text)
    assert guessed.code == 0
    assert "a word above numbers, was taken for a header" in guessed.err
    named = ask(text, "--column", "age")
    assert named.err == ""
    assert named.json == guessed.json


@pytest.mark.parametrize("command", ["bench", "budget"])
def test_a_word_that_may_be_a_header_is_pointed_out(run: Any, tmp_path: Path, command: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text("color\n" + "red\nblue\n" * 300)
    options = (*COMMANDS[command], str(path), "--json", "--quiet")
    assert "the label in the first row is in no other; if it is a header pass --column NAME" in run(*options).err
    assert run(*options, "--column", "color").err == ""
    assert run(*options, "--domain", "color,red,blue").err == ""
