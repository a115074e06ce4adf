"""The piecewise mechanism of least error: worst case or at one input, on an interval or a circle."""

from mechdesign.design.piecewise.proof import BathtubAtom, BathtubBound
from mechdesign.design.piecewise.regression import HeightFormula, fit_height
from mechdesign.design.piecewise.search import PiecewiseProblem, optimal_piecewise

__all__ = ["BathtubAtom", "BathtubBound", "HeightFormula", "PiecewiseProblem", "fit_height", "optimal_piecewise"]
