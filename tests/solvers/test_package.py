"""The package at its seams: what it imports, what it exports, what it refuses."""

import subprocess
import sys

import mechdesign_solvers
import pytest
from mechdesign_solvers import (
    BackendMissing,
    BilinearProgram,
    Capability,
    Cvxpy,
    Highs,
    LinearProgram,
    NotSupported,
    Product,
    Scip,
    Solver,
    require,
)

from tests.oracles.exact_simplex import ExactSimplex

PROGRAM = LinearProgram.of(cost=[1], matrix=[[1]], row_lower=1, lower=0)
SQUARE = BilinearProgram(PROGRAM, (Product(0, 0),))


def test_import_brings_in_no_backend() -> None:
    code = (
        "import sys, mechdesign_solvers; "
        "print([n for n in ('highspy', 'pyomo', 'pyscipopt', 'cvxpy', 'mechdesign') if n in sys.modules])"
    )
    printed = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert printed.strip() == "[]"


@pytest.mark.parametrize("taken", ["solvers.py", "solvers/__init__.py"])
def test_a_users_own_solvers_is_not_taken_for_ours(tmp_path, taken) -> None:
    own = tmp_path / taken
    own.parent.mkdir(exist_ok=True)
    own.write_text("mine = True\n", encoding="utf-8")
    code = "import solvers, mechdesign; design = mechdesign.minimax_sweep; print(solvers.mine)"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("True", "")


def test_all_names_exist_and_are_sorted() -> None:
    assert sorted(mechdesign_solvers.__all__) == mechdesign_solvers.__all__
    assert all(hasattr(mechdesign_solvers, name) for name in mechdesign_solvers.__all__)


@pytest.mark.parametrize(
    ("solver", "package", "extra"),
    [
        (Highs(), "highspy", "mechdesign"),
        (Scip(), "pyscipopt", "mechdesign[scip]"),
        (Cvxpy(), "cvxpy", "mechdesign"),
        (Cvxpy(), "clarabel", "mechdesign"),
    ],
)
def test_missing_backend_says_what_to_install(
    solver: Solver, package: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(BackendMissing) as caught:
        solver.solve(PROGRAM)
    assert (caught.value.package, caught.value.extra) == (package, extra)


@pytest.mark.parametrize("solver", [Highs(), Cvxpy(), ExactSimplex()])
def test_bilinear_program_is_refused_before_the_backend_loads(solver: Solver, monkeypatch: pytest.MonkeyPatch) -> None:
    for package in ("highspy", "cvxpy"):
        monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(NotSupported, match="bilinear"):
        solver.solve(SQUARE)


def test_every_missing_capability_is_named() -> None:
    with pytest.raises(NotSupported, match="SCIP cannot do: duals, exact"):
        require(Scip(), Capability.LINEAR | Capability.DUALS | Capability.EXACT)


@pytest.mark.parametrize("solver", [Highs(), Scip(), Cvxpy("clarabel"), Cvxpy("highs"), ExactSimplex()])
def test_capabilities_tell_what_a_solution_carries(solver: Solver) -> None:
    solution = solver.solve(PROGRAM)
    has_duals = Capability.DUALS in solver.capabilities
    assert (solution.row_duals is not None) == has_duals
    assert solution.bound == pytest.approx(1.0, abs=1e-6)
    assert solution.version != "unknown"
