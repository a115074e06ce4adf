"""OGPM: the central density e^(eps/2) is best for the absolute error.

A report has density p near the value and ``p / e^eps`` elsewhere. The least worst expected ``|y - x|`` of such laws
is ``1 / (1 + e^(eps/2))``, at ``p = e^(eps/2)``.

Ours is the certified optimum of the class at eps = 1; the reference is the formula.

From: Refined mechanism design, theorem 7 (chapter 5).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "One number"
TOLERANCE = near(1e-9)
EPSILON = 1.0


def answer() -> tuple[float, float]:
    problem = md.Problem(inputs=md.Interval(0, 1), loss=md.Absolute(), privacy=md.Pure(EPSILON), among=md.Piecewise())
    return md.solve(problem).certificate.upper, 1 / (1 + np.exp(EPSILON / 2))


def picture(axes: Axes) -> None:
    outputs, mechanism = np.linspace(0, 1, 2001), md.catalogue.ogpm(EPSILON)
    for x, style in ((0.0, "-"), (0.3, "--"), (0.5, ":")):
        axes.plot(outputs, mechanism.density(outputs, np.array(x)), style, label=f"value {x:g}")
    axes.set(title="OGPM at eps = 1", xlabel="report y", ylabel="density", ylim=(0, 1.9))
    axes.legend()
