"""At eps = 6 a direction through OGPM stays within 9 degrees with probability 0.95.

The density of a report is ``e^(eps/2) / (2 pi)``, 3.20 at eps = 6, within a window of ``(e^(eps/2) - 1) / (e^eps -
1)`` of the circle, 17 degrees. The window holds ``1 / (1 + e^(-eps/2))`` = 0.953 of the reports. By 6-ary randomised
response a sector of 60 degrees would hold 0.988.

Ours is the probability of the window under the package's mechanism; the reference is the formula.

From: Refined mechanism design, example 10 (chapter 6).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Directions and places"
TOLERANCE = near(1e-9)
EPSILON, DIRECTION = 6.0, np.pi / 6


def answer() -> tuple[float, float]:
    law = md.catalogue.ogpm_circle(EPSILON)
    ends = law.pieces(DIRECTION).edges[1:3]
    inside = law.cdf(ends[1], DIRECTION) - law.cdf(ends[0], DIRECTION)
    return float(inside), float(1 / (1 + np.exp(-EPSILON / 2)))


def picture(axes: Axes) -> None:
    angles = np.linspace(0, 2 * np.pi, 4001)[:-1]
    ratio = np.exp(EPSILON)
    sectors = np.where(angles < np.pi / 3, ratio, 1.0) / (ratio + 5) / (np.pi / 3)
    axes.plot(np.degrees(angles), md.catalogue.ogpm_circle(EPSILON).density(angles, np.array(DIRECTION)), label="OGPM")
    axes.plot(np.degrees(angles), sectors, "--", label="6 sectors, randomised response")
    title = "Reports of the direction 30 degrees, eps = 6"
    axes.set(
        title=title, xlabel="reported direction (degrees)", ylabel="density per radian (logarithmic)", yscale="log"
    )
    axes.legend()
