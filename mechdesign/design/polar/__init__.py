"""A distance and an angle: how to split epsilon between two piecewise mechanisms."""

from mechdesign.design.polar.problem import PolarProblem
from mechdesign.design.polar.proof import SplitClaim
from mechdesign.design.polar.search import best_split, optimal_polar

__all__ = ["PolarProblem", "SplitClaim", "best_split", "optimal_polar"]
