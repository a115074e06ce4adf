"""The least worst-case error over all mechanisms on an interval."""

from mechdesign.design.minimax.proof import MinimaxBound, exact_worst_error
from mechdesign.design.minimax.search import MinimaxProblem, minimax_sweep, optimal_minimax

__all__ = ["MinimaxBound", "MinimaxProblem", "exact_worst_error", "minimax_sweep", "optimal_minimax"]
