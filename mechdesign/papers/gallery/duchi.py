"""Duchi's mechanism: two reports far outside, and an unbiased mean.

A value x in [-1, 1] becomes ``+-C`` with ``C = (e^eps + 1) / (e^eps - 1)``, ``+C`` with probability ``1/2 + x / (2
C)``. It is unbiased with variance ``C^2 - x^2``, so the worst value is 0.

Ours is the worst variance of the package's mechanism at eps = 1; the reference is the formula.

From: Duchi, Jordan and Wainwright 2018.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-9)
EPSILON = 1.0


def answer() -> tuple[float, float]:
    return float(md.catalogue.duchi(EPSILON).worst_case(md.Squared())[0]), float(1 / np.tanh(EPSILON / 2) ** 2)


def picture(axes: Axes) -> None:
    x = np.linspace(-1, 1, 201)
    for name, style in (("duchi", "-"), ("pm", "--"), ("hm", ":"), ("laplace", "-.")):
        mechanism = md.catalogue.build(name, EPSILON, md.Interval(-1, 1))
        axes.plot(x, mechanism.variance(x), style, label=mechanism.name)
    axes.set(title="Variance of unbiased reports at eps = 1", xlabel="value x", ylabel="variance of a report")
    axes.set_ylim(bottom=0)
    axes.legend()
