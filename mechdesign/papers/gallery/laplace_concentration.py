"""Laplace noise keeps a value within 0.3 with probability 0.451, not 0.46.

A classifier whose label is the same within theta of x keeps it at least as often as the report is there: ``rho = 1 -
e^(-eps theta)`` for Laplace noise on [0, 1] far from the ends. At eps = 2, theta = 0.3 that is 0.4512.

Ours is the package's concentration; the reference is the formula; printed is the chapter's number.

From: Refined mechanism design, section 7.2.1 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.classifiers.concentration import concentration, perturbation

CHAPTER = "Classifiers"
TOLERANCE = near(1e-9)
PRINTED = 0.46
EPSILON, THETA = 2.0, 0.3


def of_laplace(epsilon: float) -> float:
    return concentration(perturbation("laplace", epsilon), [0.5], [0.5 - THETA], [0.5 + THETA])


def answer() -> tuple[float, float]:
    return of_laplace(EPSILON), float(-np.expm1(-EPSILON * THETA))


def picture(axes: Axes) -> None:
    outputs = np.linspace(-1.5, 2.5, 1001)
    heights = EPSILON / 2 * np.exp(-EPSILON * np.abs(outputs - 0.5))
    inside = np.abs(outputs - 0.5) <= THETA
    axes.plot(outputs, heights, label="density of the report")
    axes.fill_between(outputs[inside], heights[inside], alpha=0.4, label=f"the label is kept: {answer()[0]:.4f}")
    axes.set(title="Laplace noise on 0.5 at eps = 2", xlabel="report", ylabel="density", ylim=(0, 1.1))
    axes.legend()
