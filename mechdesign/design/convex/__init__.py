"""An objective and constraints of one's own, in CVXPY."""

from mechdesign.design.convex.problem import CustomProblem, Linear, TableProblem
from mechdesign.design.convex.proof import ConvexClaim, LinearBound
from mechdesign.design.convex.search import custom, optimal_custom

__all__ = ["ConvexClaim", "CustomProblem", "Linear", "LinearBound", "TableProblem", "custom", "optimal_custom"]
