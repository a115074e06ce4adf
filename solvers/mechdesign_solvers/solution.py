"""What a solver said: a status, a point, bounds and the evidence for them."""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass

from .errors import Inaccurate, Infeasible, LimitReached, SolverFailed, Unbounded
from .programs import FloatArray


class Status(enum.Enum):
    """How a solve ended. Only ``OPTIMAL`` is an answer; a limit leaves bounds."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    TIME_LIMIT = "time limit"
    ITERATION_LIMIT = "iteration limit"
    INACCURATE = "inaccurate"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """The outcome of one solve, in the same convention whatever the solver.

    Signs, for minimisation: ``reduced_costs = cost - matrix.T @ row_duals``. A row dual is at least zero
    where the row sits at its lower side and at most zero at its upper side, so it is the rate at which
    the optimum grows with that side; reduced costs play the same part for variable bounds.

    ``objective`` is attained by ``primal`` (to the solver's tolerance); ``bound`` is a lower bound on the
    optimum, *claimed* by the solver, and ``-inf`` when it claims none. ``ray`` holds Farkas multipliers
    of the rows when infeasible (signs as row duals) and a direction of the variables when unbounded.

    >>> Solution(Status.TIME_LIMIT, "SCIP", "9", seconds=60.0, objective=2.0, bound=1.0).gap
    0.5
    """

    status: Status
    solver: str
    version: str
    seconds: float
    primal: FloatArray | None = None
    objective: float | None = None
    bound: float = -math.inf
    row_duals: FloatArray | None = None
    reduced_costs: FloatArray | None = None
    ray: FloatArray | None = None
    iterations: int = 0
    message: str = ""

    @property
    def gap(self) -> float:
        """``(objective - bound) / |objective|``, at least zero; infinite while either is unknown."""
        if self.objective is None or self.bound == -math.inf:
            return math.inf
        distance = max(0.0, self.objective - self.bound)
        return distance / abs(self.objective) if self.objective else (0.0 if distance == 0 else math.inf)

    def require_optimal(self) -> Solution:
        """This solution if it is optimal; otherwise the typed failure that says what is known.

        >>> Solution(Status.TIME_LIMIT, "SCIP", "9", seconds=60.0, objective=2.0, bound=1.0).require_optimal()
        Traceback (most recent call last):
        mechdesign_solvers.errors.LimitReached: SCIP stopped at its time limit after 60 s; the optimum is between \
1 and 2; allow more time or accept these bounds
        """
        upper = math.inf if self.objective is None else self.objective
        match self.status:
            case Status.OPTIMAL:
                return self
            case Status.INFEASIBLE:
                raise Infeasible(self.solver, self.ray)
            case Status.UNBOUNDED:
                raise Unbounded(self.solver, self.ray)
            case Status.TIME_LIMIT | Status.ITERATION_LIMIT:
                raise LimitReached(self.solver, self.status, self.bound, upper, self.seconds)
            case Status.INACCURATE:
                raise Inaccurate(self.solver, self.bound, upper)
            case Status.FAILED:
                raise SolverFailed(self.solver, self.message)
