"""A ball that reaches beyond a mechanism's window holds less than printed.

The chapter gives a window of mass ``w p`` plus ``(2 theta - w) p / e^eps`` for all x. At x = 0.05 and theta = 0.1 the
ball [-0.05, 0.15] covers only a part of the window, which is pushed inside [0, 1], and a part of the ball is outside:
the report falls into it with probability 0.408, not 0.706.

Ours is the package's concentration of OGPM (the chapter's "PM") at eps = 2; the reference integrates the density
numerically; printed is the formula's value.

From: Refined mechanism design, section 7.3.1 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats
from mechdesign.studies.classifiers.concentration import concentration, perturbation

CHAPTER = "Classifiers"
TOLERANCE = near(1e-3)
PRINTED = 0.706
EPSILON, X, THETA = 2.0, 0.05, 0.1


def density(y: Floats) -> Floats:
    """Theorem 7's law written out: ``e^(eps/2)`` on a window around x that is pushed inside [0, 1]."""
    width = np.expm1(EPSILON / 2) / np.expm1(EPSILON)
    start = np.clip(X - width / 2, 0, 1 - width)
    inside = (y >= 0) & (y <= 1)
    return np.where(inside, np.exp(EPSILON / 2 - EPSILON * ((y < start) | (y > start + width))), 0.0)


def answer() -> tuple[float, float]:
    ball = X - THETA + 2 * THETA * (np.arange(100_000) + 0.5) / 100_000
    ours = concentration(perturbation("pm", EPSILON), [X], [X - THETA], [X + THETA])
    return ours, float(density(ball).mean() * 2 * THETA)


def picture(axes: Axes) -> None:
    y = np.linspace(-0.1, 1.1, 4001)
    ball = np.abs(y - X) <= THETA
    axes.plot(y, density(y), label="density of the report")
    axes.fill_between(y[ball], density(y)[ball], alpha=0.4, label="inside the ball: 0.408")
    axes.axvline(X, color="black", linestyle="--", linewidth=0.8, label="the value 0.05")
    axes.set(title="OGPM near an end at eps = 2", xlabel="report y", ylabel="density")
    axes.legend()
