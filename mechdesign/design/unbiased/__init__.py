"""The least average variance under a prior with ``E[Y|x] = x``."""

from mechdesign.design.unbiased.problem import (
    GridPrior,
    UnbiasedProblem,
    UnwrittenDensity,
    grid_echo,
    grid_weights,
    is_on_grid,
    prior_name,
    settled_weights,
    weights_in_words,
    written,
)
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.design.unbiased.search import optimal_unbiased

__all__ = [
    "GridPrior",
    "UnbiasedPriorBound",
    "UnbiasedProblem",
    "UnwrittenDensity",
    "grid_echo",
    "grid_weights",
    "is_on_grid",
    "optimal_unbiased",
    "prior_name",
    "settled_weights",
    "weights_in_words",
    "written",
]
