"""An objective and constraints of one's own, in CVXPY."""

from mechdesign.design.convex.proof import LinearBound
from mechdesign.design.convex.search import CustomProblem, custom, optimal_custom

__all__ = ["CustomProblem", "LinearBound", "custom", "optimal_custom"]
