"""The least average variance under a prior with ``E[Y|x] = x``."""

from mechdesign.design.unbiased.problem import UnbiasedProblem
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.design.unbiased.search import optimal_unbiased

__all__ = ["UnbiasedPriorBound", "UnbiasedProblem", "optimal_unbiased"]
