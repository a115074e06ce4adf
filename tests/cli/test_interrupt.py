"""Ctrl-C at any moment ends a command with exit code 130 and without a traceback."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mechdesign.methods.workload import search

# every import asks the finders on `sys.meta_path`: the first of them sends the signal at the n-th question
RUNNER = """
import os, runpy, signal, sys

class Interrupting:
    left = int(sys.argv.pop(1))
    def find_spec(self, name, path=None, target=None):
        Interrupting.left -= 1
        if Interrupting.left == 0:
            os.kill(os.getpid(), signal.SIGINT)

way = sys.argv.pop(1)
sys.meta_path.insert(0, Interrupting())
if way == "module":
    runpy.run_module("mechdesign", run_name="__main__", alter_sys=True)
else:
    from mechdesign.__main__ import main
    sys.exit(main())
"""
COMMAND = ("minimax", "--eps", "1", "--loss", "squared", "--quiet")
_UNREACHED = 10**9


def _interrupted(way: str, imports: int, *command: str) -> subprocess.CompletedProcess[str]:
    arguments = [sys.executable, "-c", RUNNER, str(imports), way, *command]
    return subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)


def test_without_a_signal_the_command_answers() -> None:
    outcome = _interrupted("module", _UNREACHED, *COMMAND)
    assert outcome.returncode == 0
    assert "0.1966" in outcome.stdout


# the package and its __main__ are the first questions, which no handler of ours can be before
@pytest.mark.slow
@pytest.mark.parametrize("imports", [6, 12, 40, 100, 200, 300, 400, 500, 600, 700, 800, 900])
def test_ctrl_c_during_imports_leaves_at_once(imports: int) -> None:
    outcome = _interrupted("module", imports, *COMMAND)
    assert outcome.returncode == 130
    assert "Traceback" not in outcome.stderr
    assert len(outcome.stderr.splitlines()) <= 1


@pytest.mark.parametrize("imports", [6, 60, 350])
def test_the_console_script_does_the_same(imports: int) -> None:
    outcome = _interrupted("script", imports, *COMMAND)
    assert outcome.returncode == 130
    assert "Traceback" not in outcome.stderr


def test_the_console_script_is_the_entry_that_handles_it() -> None:
    import tomllib

    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
    assert project["scripts"] == {"mechdesign": "mechdesign.__main__:main"}


def test_the_package_itself_imports_next_to_nothing() -> None:
    """Until `__main__` runs Python's own handler is in charge, and it prints a traceback."""
    code = "import sys; before = set(sys.modules); import mechdesign; print(sorted(set(sys.modules) - before))"
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert outcome.stdout.strip() == "['mechdesign', 'mechdesign.values', 'mechdesign.values.facade']"


def test_an_interrupt_in_a_finaliser_is_not_forgotten() -> None:
    body = """
import signal, time
from mechdesign.__main__ import _unwinding

class Fragile:
    def __del__(self):
        raise KeyboardInterrupt

_unwinding()
try:
    Fragile()
    time.sleep(5)
except KeyboardInterrupt:
    print("unwound")
"""
    outcome = subprocess.run([sys.executable, "-c", body], capture_output=True, text=True, timeout=60, check=False)
    assert (outcome.stdout.strip(), outcome.stderr) == ("unwound", "")


def test_where_ctrl_c_is_ignored_it_stays_ignored() -> None:
    body = "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); " + RUNNER.replace(
        "\nimport os", "import os", 1
    )
    arguments = [sys.executable, "-c", body, "60", "module", *COMMAND]
    outcome = subprocess.run(arguments, capture_output=True, text=True, timeout=120, check=False)
    assert outcome.returncode == 0
    assert "0.1966" in outcome.stdout


SEARCH = ("workload", "--eps", "1", "--queries", "prefix", "--size", "40", "--quiet")


def _interrupt(*_: object) -> None:
    signal.raise_signal(signal.SIGINT)


def test_an_interrupted_search_says_so_in_a_line(run: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(search, "answer", _interrupt)
    outcome = run(*SEARCH, "--out", str(tmp_path / "design.json"))
    assert (outcome.code, outcome.out) == (130, "")
    assert outcome.err == "mechdesign: interrupted: there is no answer, and no file is left half-written\n"
    assert not list(tmp_path.iterdir())


def test_with_json_the_line_is_an_object(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "answer", _interrupt)
    outcome = run(*SEARCH, "--json")
    assert (outcome.code, outcome.out) == (130, "")
    assert json.loads(outcome.err)["error"]["kind"] == "interrupted"
