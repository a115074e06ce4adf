"""An objective and constraints of one's own, in CVXPY."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.convex.problem import (
        Coefficients as Coefficients,
        CustomProblem as CustomProblem,
        TableProblem as TableProblem,
    )
    from mechdesign.methods.convex.proof import ConvexBound as ConvexBound, ConvexClaim as ConvexClaim
    from mechdesign.methods.convex.search import custom as custom, optimal_custom as optimal_custom
else:
    __getattr__, __dir__ = facade(__name__)
