"""Aimed at one value, OGPM is a little better there.

The worst value of theorem 7 is an end. A law of density b has ``b e^eps`` on a window of width ``(1 - b) / (b (e^eps
- 1))``. If the value is expected at x = 0.2, the central density 1.54 gives it an expected error of 0.241; the
worst-case design has 1.64 and 0.243 there.

Ours is the certified optimum of the class at x = 0.2, eps = 1; the reference minimises the error over the base
density and the place of the window, both numerically.

From: Refined mechanism design, example 8 (chapter 5).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, least_around

CHAPTER = "One number"
TOLERANCE = near(1e-7)
EPSILON, X = 1.0, 0.2


def error(parameters: Floats) -> float:
    """Of density ``b`` with ``b e^eps`` on a window that starts at ``start``."""
    base, start = parameters
    width = (1 - base) / (base * np.expm1(EPSILON))
    if start < 0 or not 0 < width <= 1 - start:
        return float("inf")

    def below(y: float) -> float:
        """The integral of ``|t - x|`` up to y."""
        return (y - X) * abs(y - X) / 2 + X**2 / 2

    return float(base * (below(1.0) + np.expm1(EPSILON) * (below(start + width) - below(start))))


def aimed() -> md.Design:
    privacy, among = md.Pure(EPSILON), md.Piecewise()
    return md.solve(
        md.Problem(inputs=md.Interval(0, 1), loss=md.Absolute(), privacy=privacy, criterion=md.At(X), among=among)
    )


def answer() -> tuple[float, float]:
    return aimed().certificate.upper, least_around(error, (0.6, 0.05))


def picture(axes: Axes) -> None:
    x = np.linspace(0, 1, 401)
    usual = md.catalogue.ogpm(EPSILON).expected_loss(x, md.Absolute())
    axes.plot(x, 100 * (aimed().scalar_law.expected_loss(x, md.Absolute()) / usual - 1))
    axes.axvline(X, color="grey", linewidth=0.8)
    axes.axhline(0, color="black", linewidth=0.8)
    title = "Aimed at 0.2, against the worst-case design, eps = 1"
    axes.set(title=title, xlabel="value x", ylabel="change of the expected error, in %")
