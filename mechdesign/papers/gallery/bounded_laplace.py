"""Laplace noise that is cut to an interval must be normalised for every value.

Conditioned on [0, 1], noise of density proportional to ``e^(-eps |y - x|)`` has at y the density ``e^(-eps |y - x|)
eps / (2 - e^(-eps x) - e^(-eps (1 - x)))``. The chapter divides by ``(1 - e^-eps) / eps``, which is right at the ends
only: at x = 1/2 and eps = 2 its density has a total mass of 1.46.

Ours is the package's density at y = x = 1/2, eps = 2; the reference integrates numerically; printed is the chapter's.

From: Refined mechanism design, section C.2.8 (B-Laplace), after Holohan, Antonatos, Braghin and Mac Aonghusa 2020;
erratum 4.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.integrate import quad

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "One number"
TOLERANCE = near(1e-9)
PRINTED = 2.3130
EPSILON, X = 2.0, 0.5


def answer() -> tuple[float, float]:
    total = quad(lambda y: np.exp(-EPSILON * abs(y - X)), 0, 1, points=[X])[0]
    return float(md.catalogue.bounded_laplace(EPSILON).density(X, X)), 1 / total


def picture(axes: Axes) -> None:
    outputs, mechanism = np.linspace(0, 1, 401), md.catalogue.bounded_laplace(EPSILON)
    printed = np.exp(-EPSILON * np.abs(outputs - X)) * EPSILON / -np.expm1(-EPSILON)
    axes.plot(outputs, mechanism.density(outputs, np.array(X)), label="normalised, mass 1")
    axes.plot(outputs, printed, "--", label="as printed, mass 1.46")
    axes.set(title="B-Laplace of the value 1/2, eps = 2", xlabel="report y", ylabel="density")
    axes.set_ylim(bottom=0)
    axes.legend()
