"""How much a command reads before it works, counted in modules: seconds depend on the machine."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from mechdesign.cli.overview import NAMES

STUDIES = ("bench", "budget", "capacity", "classifier", "compare", "gain", "mean")
MOST, MOST_OF_STUDIES = 640, 520
"""Modules of everybody's: with as many a command is there in less than .4 s of CPU."""

_SOLVERS = {"mechdesign_solvers", "highspy", "pyscipopt", "clarabel", "cvxpy", "pyomo"}
COMPUTING = _SOLVERS | {"scipy", "sklearn", "dask", "matplotlib", "polars", "pandas"}

_CODE = """
import sys
from mechdesign.cli.app import main
try:
    main([{command!r}, "--help"])
except SystemExit:
    print(*sorted(sys.modules), file=sys.stderr)
"""


def read_by(command: str) -> list[str]:
    """The modules that are read before the help page of a command is."""
    code = _CODE.format(command=command)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stderr.splitlines()[-1].split()


@pytest.mark.parametrize("command", NAMES)
def test_a_command_says_its_options_without_what_computes(command: str) -> None:
    read = read_by(command)
    assert len(read) <= (MOST_OF_STUDIES if command in STUDIES else MOST)
    assert not COMPUTING & set(read)


@pytest.mark.parametrize(
    "typed",
    [
        "mechdesign mini",
        "mechdesign table --mechanism p",
        "mechdesign advise --want me",
        "mechdesign gallery two",
        "mechdesign capacity --population water-s",
        "mechdesign bench -p oue,g",
        "mechdesign mean --mechanism p",
        "mechdesign gain --laws u",
    ],
)
def test_a_tab_computes_nothing(typed: str) -> None:
    told = {"_MECHDESIGN_COMPLETE": "complete_bash", "COMP_WORDS": typed, "COMP_CWORD": str(len(typed.split()) - 1)}
    command = [sys.executable, "-X", "importtime", "-m", "mechdesign"]
    done = subprocess.run(command, env=os.environ | told, capture_output=True, text=True, check=True)
    read = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines()}
    assert "mechdesign.cli.app" in read
    assert done.stdout.split()
    assert not COMPUTING & read


def test_the_overview_reads_no_command() -> None:
    assert [name for name in read_by("--help") if name.removeprefix("mechdesign.cli.") in NAMES] == []
