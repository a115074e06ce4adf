"""The piecewise mechanism of least error: worst case or at one input, on an interval or a circle."""

from mechdesign.design.piecewise.problem import PiecewiseProblem
from mechdesign.design.piecewise.proof import BathtubBound, PiecewiseClaim
from mechdesign.design.piecewise.regression import HeightFormula, fit_height
from mechdesign.design.piecewise.search import Bathtub, optimal_piecewise

__all__ = [
    "Bathtub",
    "BathtubBound",
    "HeightFormula",
    "PiecewiseClaim",
    "PiecewiseProblem",
    "fit_height",
    "optimal_piecewise",
]
