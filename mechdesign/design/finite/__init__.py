"""Any losses over finite inputs and outputs."""

from mechdesign.design.finite.proof import FiniteBound, LexicographicBound
from mechdesign.design.finite.search import FiniteProblem, euclidean, optimal_finite

__all__ = ["FiniteBound", "FiniteProblem", "LexicographicBound", "euclidean", "optimal_finite"]
