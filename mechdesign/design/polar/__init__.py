"""A distance and an angle: how to split epsilon between two piecewise mechanisms."""

from mechdesign.design.polar.search import PolarProblem, optimal_polar

__all__ = ["PolarProblem", "optimal_polar"]
