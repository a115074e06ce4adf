"""Additive noise with a law for each input."""

from mechdesign.design.additive.problem import USUAL_BINS, AdditiveProblem, fits, usual_bins
from mechdesign.design.additive.proof import AdditiveBound, Tails
from mechdesign.design.additive.search import optimal_additive, total_variance
from mechdesign.design.additive.tuning import Trial, Tuning, tune

__all__ = [
    "USUAL_BINS",
    "AdditiveBound",
    "AdditiveProblem",
    "Tails",
    "Trial",
    "Tuning",
    "fits",
    "optimal_additive",
    "total_variance",
    "tune",
    "usual_bins",
]
