"""The least worst-case error over all mechanisms on an interval."""

from mechdesign.design.minimax.problem import MinimaxProblem
from mechdesign.design.minimax.proof import MinimaxBound, MinimaxClaim
from mechdesign.design.minimax.search import minimax_sweep, optimal_minimax

__all__ = ["MinimaxBound", "MinimaxClaim", "MinimaxProblem", "minimax_sweep", "optimal_minimax"]
