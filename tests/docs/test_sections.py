"""The page of the papers' sections: each row leads somewhere, and what it names is there."""

from __future__ import annotations

import importlib
import re
import shlex
from pathlib import Path

import pytest
import typer.main

from mechdesign.cli.app import app
from mechdesign.cli.overview import NAMES
from mechdesign.papers.claims import named

COMMAND = typer.main.get_command(app)
PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "sections.md").read_text()
ROWS = [
    [cell.strip() for cell in line.strip("|\n ").split(" | ")] for line in PAGE.splitlines() if line.startswith("| ")
]
SECTIONS = [row for row in ROWS if row[0] != "section"]
SPANS = sorted({span for row in SECTIONS for span in re.findall(r"`([^`]+)`", row[-1])})
COMMANDS = [span for span in SPANS if span.split()[0] in NAMES]
PYTHON = [span for span in SPANS if re.fullmatch(r"[a-z]\w*(\.\w+)+", span)]
OPTIONS = [span for span in SPANS if span.startswith("-")]


def options_of(words: list[str]) -> set[str]:
    """The options of a command, or of a command of a group."""
    command = COMMAND.commands[words[0]]
    command = getattr(command, "commands", {}).get(" ".join(words[1:2]), command)
    return {name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts)}


@pytest.mark.parametrize("row", SECTIONS, ids=lambda row: f"{row[0]}: {row[1]}"[:40])
def test_a_section_has_a_command_a_claim_a_name_or_a_reason(row: list[str]) -> None:
    assert len(row) == 3
    spans = re.findall(r"`([^`]+)`", row[2])
    assert any(span in COMMANDS or span in PYTHON for span in spans) or re.search(r"\*not here\*.*: .{15}", row[2])


@pytest.mark.parametrize("span", COMMANDS)
def test_a_command_of_the_page_has_the_options_it_is_shown_with(span: str) -> None:
    words = shlex.split(span)
    wanted = {word.partition("=")[0] for word in words if re.match(r"--?[a-z]", word)}
    assert wanted <= options_of(words)


@pytest.mark.parametrize("span", [span for span in COMMANDS if re.match(r"reproduce [a-z]", span)])
def test_a_claim_of_the_page_is_one(span: str) -> None:
    assert named(span.split()[1:])


@pytest.mark.parametrize("span", PYTHON)
def test_a_name_of_the_page_can_be_imported(span: str) -> None:
    parts = ["mechdesign", *span.removeprefix("mechdesign.").split(".")]
    try:
        importlib.import_module(".".join(parts))
    except ModuleNotFoundError:
        assert hasattr(importlib.import_module(".".join(parts[:-1])), parts[-1])


def test_every_span_is_a_command_a_name_or_an_option_of_the_command_before() -> None:
    assert [span for span in SPANS if span not in COMMANDS + PYTHON + OPTIONS] == []


def test_parameters_of_the_searches_are_options_of_budget() -> None:
    assert {span for span in OPTIONS if span != "--plot"} <= options_of(["budget"])


@pytest.mark.parametrize(
    "paper", ["AAA", "IBU", "LDP3", "Optimus", "Joint", "piecewise", "Trajectories", "Classifiers"]
)
def test_every_paper_and_chapter_has_a_table(paper: str) -> None:
    assert re.search(rf"^## .*{paper}.*$", PAGE, re.MULTILINE)
