"""An objective and constraints of one's own, in CVXPY."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.convex.problem import (
        Coefficients as Coefficients,
        CustomProblem as CustomProblem,
        TableProblem as TableProblem,
    )
    from mechdesign.design.convex.proof import ConvexBound as ConvexBound, ConvexClaim as ConvexClaim
    from mechdesign.design.convex.search import custom as custom, optimal_custom as optimal_custom
else:
    __getattr__, __dir__ = facade(__name__)
