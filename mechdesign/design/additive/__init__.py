"""Additive noise with a law for each input."""

from mechdesign.design.additive.proof import AdditiveBound
from mechdesign.design.additive.search import AdditiveProblem, Tuning, optimal_additive, tune

__all__ = ["AdditiveBound", "AdditiveProblem", "Tuning", "optimal_additive", "tune"]
