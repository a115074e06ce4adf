"""A solver that breaks is told as such, with its reason: a limit is something else."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from mechdesign_solvers import Scip, Solution, Status

from mechdesign import SolverFailed, solve
from mechdesign.cli import main
from mechdesign.methods.broken_solver import require_working
from tests.methods import problems
from tests.methods.problems import joint_problem

BREAKS = {
    "missing class": ("raise KeyError('scip_direct')", "KeyError: 'scip_direct'", "pip install --upgrade"),
    "memory": ("raise MemoryError", "MemoryError", "more memory"),
    "crash": ("import os; os.abort()", "SIGABRT", "try again"),
    "killed for memory": ("import os; os.kill(os.getpid(), 9)", "SIGKILL", "more memory"),
    "quiet exit": ("import sys; sys.exit(7)", "exit code 7", "try again"),
}


@pytest.fixture(params=BREAKS, ids=str)
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, str]:
    """A solver process that breaks in one of the ways seen; the words its error must have."""
    body, reason, step = BREAKS[request.param]
    (tmp_path / "breaking_child.py").write_text(body)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("mechdesign_solvers.scip._CHILD", "breaking_child")
    return reason, step


SEARCHES: dict[str, Callable[[], object]] = {
    "pieces": lambda: solve(problems.piecewise(1.0, pieces=3), method="piecewise_program"),
    "joint": lambda: solve(joint_problem(1.0, 10_000, 0.03), method="joint_program"),
}


@pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)
def test_a_broken_solver_is_an_error_with_its_reason_and_a_next_step(
    broken: tuple[str, str], search: Callable[[], object]
) -> None:
    with pytest.raises(SolverFailed) as failure:
        search()
    assert all(words in str(failure.value) for words in broken)


def test_the_command_line_exits_with_1_not_with_3(broken: tuple[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["ogpm", "--eps", "1", "--pieces", "3", "--method", "scip", "--json", "--quiet"])
    out, err = capfd.readouterr()
    assert stop.value.code == 1
    assert out == ""
    assert all(words in err for words in broken)
    assert "Traceback" not in err


def test_a_limit_is_no_failure() -> None:
    stopped = Solution(Status.TIME_LIMIT, "SCIP", "9", seconds=1.0)
    assert require_working(stopped) is stopped


def test_a_pyomo_without_the_interface_says_so() -> None:
    from mechdesign_solvers._scip_child import _direct_interface

    class Factory:
        def get_class(self, name: str) -> object:
            raise KeyError(name)

    with pytest.raises(ImportError, match="no direct interface to SCIP"):
        _direct_interface(Factory())


def test_the_real_child_says_why_it_cannot_solve(monkeypatch: pytest.MonkeyPatch) -> None:
    """A setting SCIP does not know stands for whatever goes wrong inside it."""
    from mechdesign_solvers import BilinearProgram, LinearProgram, Product

    box = LinearProgram.of(cost=[0, 0], matrix=[[1, 1]], row_upper=1, lower=-1, upper=1)
    solution = Scip(settings={"no/such": 1}).solve(BilinearProgram(box, (Product(0, 1),)))
    with pytest.raises(SolverFailed, match=r"no/such|parameter"):
        require_working(solution)
