"""The unbiased piecewise mechanism of least worst-case variance."""

from mechdesign.design.unbiased_piecewise.problem import UnbiasedPiecewiseProblem
from mechdesign.design.unbiased_piecewise.proof import UnbiasedBound
from mechdesign.design.unbiased_piecewise.search import optimal_unbiased_piecewise

__all__ = ["UnbiasedBound", "UnbiasedPiecewiseProblem", "optimal_unbiased_piecewise"]
