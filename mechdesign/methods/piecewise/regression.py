"""A formula for the optimal central density, fitted to solved values (the chapter's Example 5)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.methods.method import Demands
from mechdesign.methods.piecewise.search import answer
from mechdesign.values.declare import frozen
from mechdesign.values.later import optimize
from mechdesign.words import classes
from mechdesign.words.domains import UNIT, Interval
from mechdesign.words.losses import Loss
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem


@frozen
class HeightFormula:
    """``p(eps) = e^(rate eps) + shift``, with the largest residual over the values it was fitted to.

    A fit, not a proof: the heights it gives are private for any base density, but optimal only where the form is right.
    """

    rate: float
    shift: float
    largest_residual: float

    def __call__(self, epsilon: float) -> float:
        return float(np.exp(self.rate * epsilon) + self.shift)


def fit_height(epsilons: Sequence[float], loss: Loss, inputs: Interval = UNIT) -> HeightFormula:
    """Solve for each epsilon and regress the central density on it by least squares.

    >>> from mechdesign.words.losses import Absolute
    >>> formula = fit_height([0.5, 1, 2, 3, 4], Absolute())
    >>> round(formula.rate, 6), formula.largest_residual < 1e-9
    (0.5, True)
    """
    if len(set(epsilons)) < 3:
        raise InvalidInput("epsilons", list(epsilons), "hold at least three different values")
    points = np.asarray(epsilons, dtype=np.float64)
    heights = np.array([_height(epsilon, loss, inputs) for epsilon in points.tolist()])

    def residuals(
        parameters: np.ndarray[tuple[int], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        return np.asarray(np.exp(parameters[0] * points) + parameters[1] - heights)

    fit = optimize.least_squares(residuals, np.array([0.4, 0.0]), xtol=1e-15, ftol=1e-15, gtol=1e-15)
    rate, shift = (float(value) for value in fit.x)
    return HeightFormula(rate, shift, float(np.max(np.abs(residuals(fit.x)))))


def _height(epsilon: float, loss: Loss, inputs: Interval) -> float:
    problem = Problem(inputs=inputs, loss=loss, privacy=Pure(epsilon), among=classes.Piecewise())
    mechanism = answer(problem, Demands()).mechanism
    assert isinstance(mechanism, Piecewise)
    return mechanism.high
