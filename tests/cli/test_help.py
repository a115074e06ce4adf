"""Help pages: groups, `-h`, `--version`, completion, and an example on every page, which runs as it stands."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mechdesign import __version__
from mechdesign.cli.app import groups
from mechdesign.cli.overview import GROUPS, NAMES, pasted

PATHS = tuple(f"{name} {one}" for name, module in groups().items() for one in module.ANSWERS)
COMMANDS = (*(name for name in NAMES if name not in groups()), *PATHS)


def example_on(page: str) -> list[str]:
    """The lines of the example on a help page."""
    *_, example = page.partition("  Example:\n")
    return [line.removeprefix("    ") for line in example.splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_on_a_help_page_runs(run: Any, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = example_on(run(*name.split(), "--help").out)
    assert lines[-1].startswith(f"python -m mechdesign {name} ")
    monkeypatch.chdir(tmp_path)
    for line in lines:
        words = _words(line)
        if words is None:
            shell = re.sub(r"^python ", f"{sys.executable} ", line)
            subprocess.run(["bash", "-c", shell], check=True)
        else:
            outcome = run(*words)
            assert outcome.code == 0, f"{line}\n{outcome.err}"
    assert outcome.out


def _words(line: str) -> list[str] | None:
    import shlex

    start = "python -m mechdesign "
    return shlex.split(line.removeprefix(start)) if line.startswith(start) else None


def test_lines_of_other_programs_are_shown_as_they_are() -> None:
    assert list(pasted("$ echo 1\nshow a.json")) == ["echo 1", "python -m mechdesign show a.json"]


def test_help_lists_every_command_in_the_groups_of_the_overview(run: Any) -> None:
    page = run("--help").out
    found = {
        group: re.findall(r"^  ([a-z-]+)  ", section, re.MULTILINE)
        for group, section in re.findall(r"^([a-z]+):\n(.*?)(?:\n\n|\Z)", page, re.MULTILINE | re.DOTALL)
    }
    assert found == {group: [name for row in rows for name, _ in row] for group, rows in GROUPS}


@pytest.mark.parametrize("words", [(), ("ogpm",), ("trajectory",), ("trajectory", "perturb")])
def test_h_is_help(run: Any, words: tuple[str, ...]) -> None:
    assert run(*words, "-h").out == run(*words, "--help").out != ""


def test_the_version_is_that_of_the_package(run: Any) -> None:
    outcome = run("--version")
    assert (outcome.code, outcome.out) == (0, f"mechdesign {__version__}\n")


def _completed(shell: str, **more: str) -> str:
    told = os.environ | {"_MECHDESIGN_COMPLETE": shell} | more
    command = [sys.executable, "-m", "mechdesign"]
    return subprocess.run(command, env=told, capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_are_given_a_script_that_completes(shell: str) -> None:
    assert "_MECHDESIGN_COMPLETE" in _completed(f"source_{shell}")


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("mechdesign min", "minimax"),
        ("mechdesign minimax --loss-m", "--loss-matrix"),
        ("mechdesign -", "--version"),
        ("mechdesign capacity --population water-s", "water-sample"),
        ("mechdesign bench -p oue,g", "oue,grr"),
        ("mechdesign minimax --loss s", "squared"),
        ("mechdesign minimax --criterion l", "lexicographic"),
        ("mechdesign metric --criterion w", "worst"),
        ("mechdesign table --mechanism p", "pm"),
        ("mechdesign table --protocol g", "grr"),
        ("mechdesign trajectory perturb --mechanism o", "ogpm"),
        ("mechdesign protocols -p ol", "olh"),
        ("mechdesign advise --want me", "mean"),
        ("mechdesign gallery two", "two_points"),
        ("mechdesign glossary t-s", "t-sw"),
        ("mechdesign bench --engine d", "dask"),
        ("mechdesign workload --queries pr", "prefix"),
        ("mechdesign workload --criterion w", "worst"),
        ("mechdesign aaa --prior u", "uniform"),
        ("mechdesign aaa --form f", "free"),
        ("mechdesign metric --loss sq", "squared"),
        ("mechdesign ogpm --method s", "scip"),
        ("mechdesign jrr --inside ol", "olh"),
        ("mechdesign information --model log", "logistic-location"),
        ("mechdesign plot --kind h", "heat"),
        ("mechdesign constants --criteria worst,u", "worst,unbiased"),
        ("mechdesign trajectory compare --metric r", "range:"),
        ("mechdesign trajectory compare --methods tracs-c,str", "tracs-c,strawman"),
        ("mechdesign estimate-counts --client l", "ldp3"),
        ("mechdesign estimate-counts --for p", "population"),
        ("mechdesign collect-reports --estimate pe", "people"),
        ("mechdesign export --to typ", "typescript"),
        ("mechdesign export --to co", "coq"),
        ("mechdesign schema min", "minimax"),
    ],
)
def test_commands_options_and_their_values_are_completed(typed: str, wanted: str) -> None:
    count = len(typed.split()) - 1
    assert wanted in _completed("complete_bash", COMP_WORDS=typed, COMP_CWORD=str(count)).split()


@pytest.mark.parametrize(
    ("typed", "wanted"),
    [
        ("mechdesign mean FILE --column a", "age"),
        ("mechdesign mean FILE --columns age,h", "age,hours"),
        ("mechdesign metric --points FILE --prior h", "hours"),
        ("mechdesign estimate table.json --in FILE --column h", "hours"),
    ],
)
def test_columns_of_a_file_that_is_named_are_completed(tmp_path: Path, typed: str, wanted: str) -> None:
    data = tmp_path / "people.csv"
    data.write_text("age,hours\n1,2\n")
    words = typed.replace("FILE", str(data))
    assert wanted in _completed("complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1)).split()


def test_values_are_never_offered_as_columns(tmp_path: Path) -> None:
    data = tmp_path / "people.csv"
    data.write_text("37\n41\n")
    words = f"mechdesign mean {data} --column 3"
    assert "37" not in _completed("complete_bash", COMP_WORDS=words, COMP_CWORD="4")


def test_a_command_s_module_is_read_only_where_it_is_asked_for() -> None:
    code = """
import sys
from mechdesign.cli.app import main
try:
    main(["verify", "-h"])
except SystemExit:
    print([name for name in ("collect", "advice") if f"mechdesign.{name}" in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"
