"""The piecewise mechanism of least error: worst case or at one input, on an interval or a circle."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.piecewise.proof import BathtubBound as BathtubBound, PiecewiseClaim as PiecewiseClaim
    from mechdesign.methods.piecewise.regression import HeightFormula as HeightFormula, fit_height as fit_height
    from mechdesign.methods.piecewise.search import Bathtub as Bathtub
else:
    __getattr__, __dir__ = facade(__name__)
