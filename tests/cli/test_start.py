"""How much a command reads before it works, counted in modules: seconds depend on the machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from mechdesign.cli.overview import NAMES

STUDIES = ("bench", "budget", "capacity", "classifier", "compare", "gain", "mean")
MOST = 520
"""Modules of everybody's: with as many a command is there in less than .4 s of CPU."""
COMPUTING = {"scipy", "highspy", "pyscipopt", "cvxpy", "pyomo", "matplotlib", "polars", "pandas", "dask"}

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
    assert not COMPUTING & set(read_by(command))


@pytest.mark.parametrize("command", STUDIES)
def test_a_study_says_its_options_without_what_computes_it(command: str) -> None:
    read = read_by(command)
    assert len(read) <= MOST
    assert not {"sklearn", "mechdesign_solvers"} & set(read)


def test_the_overview_reads_no_command() -> None:
    assert [name for name in read_by("--help") if name.removeprefix("mechdesign.cli.") in NAMES] == []
