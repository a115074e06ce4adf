"""The least average variance under a prior with ``E[Y|x] = x``."""

from mechdesign.design.unbiased.problem import UnbiasedProblem, UnwrittenDensity, grid_weights, is_on_grid, written
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.design.unbiased.search import optimal_unbiased

__all__ = [
    "UnbiasedPriorBound",
    "UnbiasedProblem",
    "UnwrittenDensity",
    "grid_weights",
    "is_on_grid",
    "optimal_unbiased",
    "written",
]
