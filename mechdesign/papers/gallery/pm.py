"""PM, the piecewise mechanism for means, has its largest variance at the ends.

A value x in [-1, 1] becomes a report in [-C, C], ``C = (e^(eps/2) + 1) / (e^(eps/2) - 1)``, denser on a window of
width ``C - 1`` around ``(C + 1) x / 2``. With ``h = e^(eps/2)`` its variance is ``x^2 / (h - 1) + (h + 3) / (3 (h -
1)^2)``, at most ``4 h / (3 (h - 1)^2)``.

Ours is the worst variance of the package's mechanism at eps = 2; the reference is the formula.

From: Wang et al. 2019 (ICDE), the piecewise mechanism and its variance.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-9)
EPSILON = 2.0


def answer() -> tuple[float, float]:
    h = np.exp(EPSILON / 2)
    return float(md.catalogue.pm(EPSILON).worst_case(md.Squared())[0]), float(4 * h / (3 * (h - 1) ** 2))


def picture(axes: Axes) -> None:
    mechanism = md.catalogue.pm(EPSILON)
    outputs = np.linspace(mechanism.outputs.lower, mechanism.outputs.upper, 2001)
    for x, style in ((-1.0, "-"), (0.0, "--"), (0.7, ":")):
        axes.plot(outputs, mechanism.density(outputs, np.array(x)), style, label=f"value {x:g}")
    axes.set(title="PM at eps = 2", xlabel="report y", ylabel="density")
    axes.set_ylim(bottom=0)
    axes.legend()
