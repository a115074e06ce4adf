"""The shape every solver has, and the question whether it can do what is asked."""

from __future__ import annotations

import enum
import importlib
import importlib.util
from types import ModuleType
from typing import Protocol

from .errors import BackendMissing, NotSupported
from .programs import BilinearProgram, Limits, Program
from .solution import Solution


class Capability(enum.Flag):
    """What a solver can take and what its solutions carry."""

    LINEAR = enum.auto()
    BILINEAR = enum.auto()
    CONVEX = enum.auto()
    DUALS = enum.auto()
    RAYS = enum.auto()
    DUAL_BOUND = enum.auto()
    WARM_START = enum.auto()
    EXACT = enum.auto()


class Solver(Protocol):
    """Anything that turns a program into a :class:`~mechdesign_solvers.solution.Solution`."""

    @property
    def name(self) -> str:
        """What reports call this solver."""

    @property
    def capabilities(self) -> Capability:
        """What this solver can do."""

    def solve(self, program: Program, limits: Limits = ...) -> Solution:
        """Solve, within the limits. Raises ``NotSupported`` before anything runs."""


def require(solver: Solver, needed: Capability) -> None:
    """Raise ``NotSupported`` unless the solver has every capability in ``needed``.

    >>> from mechdesign_solvers import Highs
    >>> require(Highs(), Capability.LINEAR | Capability.DUALS)
    >>> require(Highs(), Capability.BILINEAR)
    Traceback (most recent call last):
    mechdesign_solvers.errors.NotSupported: HiGHS cannot do: bilinear
    """
    missing = needed & ~solver.capabilities
    if missing:
        words = ", ".join((flag.name or "").lower().replace("_", " ") for flag in missing)
        raise NotSupported(f"{solver.name} cannot do: {words}")


def kind_of(program: Program) -> Capability:
    """The capability a program asks of its solver."""
    return Capability.BILINEAR if isinstance(program, BilinearProgram) else Capability.LINEAR


def load_backend(solver: str, package: str, extra: str) -> ModuleType:
    """Import the package behind a solver, now rather than at start-up, or say what to install."""
    try:
        return importlib.import_module(package)
    except ImportError as error:
        raise BackendMissing(solver, package, extra) from error


def ensure_installed(solver: str, package: str, extra: str) -> None:
    """Check, without importing it, that the package behind a solver is installed."""
    if importlib.util.find_spec(package) is None:
        raise BackendMissing(solver, package, extra)
