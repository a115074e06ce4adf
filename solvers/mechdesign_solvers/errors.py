"""The ways a solve can fail, drawn in one place.

::

    SolverError
    ├── ProgramError        the program itself is malformed (also a ValueError)
    ├── BackendMissing      the solver's package is not installed (also an ImportError)
    ├── NotSupported        the solver cannot do what is asked; nothing was run
    ├── Infeasible          proven: no point satisfies the rows      .ray (Farkas multipliers)
    ├── Unbounded           proven: the objective falls for ever     .ray (primal direction)
    ├── LimitReached        stopped early; the bounds are kept       .lower .upper .status .seconds
    ├── Inaccurate          finished, but short of its own tolerance .lower .upper
    └── SolverFailed        no answer of any kind
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from .solution import Status


class SolverError(Exception):
    """Root of everything this package raises on purpose."""


class ProgramError(SolverError, ValueError):
    """A program is malformed. Names the field, the value received and the rule it breaks.

    >>> print(ProgramError("cost", [1.0, float("nan")], "must be finite"))
    cost must be finite (got [1.0, nan])
    """

    def __init__(self, field: str, value: object, rule: str) -> None:
        super().__init__(f"{field} {rule} (got {value})")
        self.field = field
        self.value = value
        self.rule = rule


class BackendMissing(SolverError, ImportError):
    """The package behind a solver is not installed.

    >>> print(BackendMissing("SCIP", "pyscipopt", "mechdesign[scip]"))
    SCIP needs the package pyscipopt, which is not installed; install mechdesign[scip]
    """

    def __init__(self, solver: str, package: str, extra: str) -> None:
        super().__init__(f"{solver} needs the package {package}, which is not installed; install {extra}")
        self.solver = solver
        self.package = package
        self.extra = extra


class NotSupported(SolverError):
    """The solver lacks a capability the request needs. Raised before anything runs."""


class Infeasible(SolverError):
    """No point satisfies the program. ``ray`` holds Farkas multipliers of the rows when known."""

    def __init__(self, solver: str, ray: NDArray[np.float64] | None = None) -> None:
        proof = "with Farkas multipliers" if ray is not None else "without a certificate"
        super().__init__(f"no point satisfies all rows and bounds, says {solver} ({proof})")
        self.solver = solver
        self.ray = ray


class Unbounded(SolverError):
    """The objective has no minimum. ``ray`` is a direction along which it falls for ever, when known."""

    def __init__(self, solver: str, ray: NDArray[np.float64] | None = None) -> None:
        proof = "with a direction of descent" if ray is not None else "without a certificate"
        super().__init__(f"the objective can be made as small as one likes, says {solver} ({proof})")
        self.solver = solver
        self.ray = ray


class LimitReached(SolverError):
    """A limit stopped the solve. The optimum lies in ``[lower, upper]``; either end may be infinite."""

    def __init__(self, solver: str, status: Status, lower: float, upper: float, seconds: float) -> None:
        super().__init__(
            f"{solver} stopped at its {status.value} after {seconds:.3g} s; "
            f"the optimum is between {lower:.9g} and {upper:.9g}; allow more time or accept these bounds"
        )
        self.solver = solver
        self.status = status
        self.lower = lower
        self.upper = upper
        self.seconds = seconds


class Inaccurate(SolverError):
    """The solver finished without reaching its own tolerances, so its answer is not an optimum."""

    def __init__(self, solver: str, lower: float, upper: float) -> None:
        super().__init__(
            f"{solver} ended short of its own tolerances (bounds it claims: {lower:.9g} to {upper:.9g}); "
            "rescale the program or try another solver"
        )
        self.solver = solver
        self.lower = lower
        self.upper = upper


class SolverFailed(SolverError):
    """The solver ended without an answer of any kind."""

    def __init__(self, solver: str, message: str) -> None:
        super().__init__(f"{solver} gave no answer: {message or 'no reason stated'}")
        self.solver = solver
        self.message = message
