"""Programs, solutions and solvers. Knows nothing of privacy.

A program is pure mathematics; a solver turns it into a solution; only an optimal solution is an answer.

>>> program = LinearProgram.of(cost=[2, 3], matrix=[[1, 1]], row_lower=1, lower=0)
>>> Highs().solve(program).require_optimal().objective
2.0

Importing this package imports numpy and scipy only; each solver loads what is behind it when it is used.
"""

from .convex import Cvxpy
from .cutting import CuttingPlanes, Rows
from .duality import dual_objective, proves_infeasible, proves_unbounded
from .errors import (
    BackendMissing,
    Inaccurate,
    Infeasible,
    LimitReached,
    NotSupported,
    ProgramError,
    SolverError,
    SolverFailed,
    Unbounded,
)
from .highs import Highs, HighsSession
from .programs import BilinearProgram, Limits, LinearProgram, Product, Program
from .protocol import Capability, Solver, require
from .scip import Scip
from .solution import Solution, Status
from .strengthen import with_implied_cones

__all__ = [
    "BackendMissing",
    "BilinearProgram",
    "Capability",
    "CuttingPlanes",
    "Cvxpy",
    "Highs",
    "HighsSession",
    "Inaccurate",
    "Infeasible",
    "LimitReached",
    "Limits",
    "LinearProgram",
    "NotSupported",
    "Product",
    "Program",
    "ProgramError",
    "Rows",
    "Scip",
    "Solution",
    "Solver",
    "SolverError",
    "SolverFailed",
    "Status",
    "Unbounded",
    "dual_objective",
    "proves_infeasible",
    "proves_unbounded",
    "require",
    "with_implied_cones",
]
