"""An objective and constraints of one's own, in CVXPY."""

from mechdesign.design.custom.proof import LinearBound
from mechdesign.design.custom.search import CustomProblem, custom, optimal_custom

__all__ = ["CustomProblem", "LinearBound", "custom", "optimal_custom"]
