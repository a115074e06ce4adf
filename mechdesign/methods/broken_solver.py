"""What to do about a solver that is broken: the reason it gave decides the next step."""

from __future__ import annotations

from mechdesign_solvers import Solution, Status

from mechdesign.errors import SolverFailed

_MEMORY = ("memory", "bad_alloc", "sigkill", "cannot allocate", "failed to map")
_PACKAGES = ("importerror", "modulenotfounderror", "attributeerror", "keyerror", "shared object", "interface")
_WITHOUT = "or leave out method='scip' (--method scip): the default needs no SCIP"


def require_working(solution: Solution) -> Solution:
    """The solution unless its solver failed, which is no limit: then `SolverFailed` with the reason.

    >>> require_working(Solution(Status.FAILED, "SCIP", "unknown", 0.0, message="MemoryError: "))
    Traceback (most recent call last):
    mechdesign.errors.SolverFailed: SCIP is broken or was stopped: MemoryError; allow it more memory, \
or leave out method='scip' (--method scip): the default needs no SCIP
    """
    if solution.status is not Status.FAILED:
        return solution
    reason = solution.message.strip().rstrip(":") or "no reason stated"
    raise SolverFailed(solution.solver, reason, f"{_next_step(reason.lower())}, {_WITHOUT}")


def _next_step(reason: str) -> str:
    if any(word in reason for word in _MEMORY):
        return "allow it more memory"
    if any(word in reason for word in _PACKAGES):
        return "install its packages anew with: pip install --upgrade 'mechdesign[scip]'"
    return "try again"
