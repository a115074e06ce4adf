"""The commands as a whole: overview, help, module entry, exit codes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mechdesign.cli.app import app


def test_no_arguments_shows_one_screen_of_what_there_is(run: Any) -> None:
    outcome = run()
    assert outcome.code == 0
    assert len(outcome.out.splitlines()) <= 24
    assert all(len(line) <= 120 for line in outcome.out.splitlines())
    groups = [line[2:11].strip() for line in outcome.out.splitlines() if line.startswith("  ") and line[2] != " "]
    assert groups == ["design", "study", "simulate", "choose", "ship"]
    named = re.findall(r"[a-z-]+", " ".join(line[11:] for line in outcome.out.splitlines()))
    assert {str(command.name) for command in app.registered_commands} <= set(named)


@pytest.mark.parametrize("command", [command.name for command in app.registered_commands])
def test_every_command_has_help(run: Any, command: str) -> None:
    assert run(command, "--help").code == 0


def test_an_unknown_command_exits_with_2(run: Any) -> None:
    assert run("frobnicate").code == 2


def test_the_module_runs_in_a_fresh_process() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mechdesign", "ogpm", "--eps", "2"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert "0.268941" in done.stdout


def test_a_closed_pipe_leaves_no_traceback() -> None:
    command = f"{sys.executable} -m mechdesign compare --eps 0.5:4:8 | head -1"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert "Traceback" not in done.stderr


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)


FULL = ["> /dev/full"] if Path("/dev/full").exists() else []


@pytest.mark.parametrize("redirection", [">&-", *FULL])
def test_an_unwritable_stdout_is_a_plain_failure(redirection: str) -> None:
    done = _shell(f"{sys.executable} -m mechdesign ogpm --eps 2 --json {redirection}")
    assert "Traceback" not in done.stderr
    assert "please report" not in done.stderr
    assert done.returncode == 1


def test_a_name_the_terminal_cannot_spell_is_no_failure(tmp_path: Path) -> None:
    path = tmp_path / "groß.json"
    done = _shell(f"PYTHONIOENCODING=ascii {sys.executable} -m mechdesign ogpm --eps 2 --out '{path}'")
    assert done.returncode == 0
    assert path.exists()
