"""A rival that spends half of its epsilon loses the comparison by that.

The published code of chapter 6 gives the exponential mechanism weights ``e^(-eps d / (2 d_max))``, with d_max the
farthest point from the *input*. On 10 x 10 points of the unit square that loses 1.06 where 2 is allowed.

Ours is the exact privacy loss of that mechanism in the package; the reference writes the table down; printed is the
eps it is compared at.

From: the code published with Refined mechanism design, section 6.3.2 (chapter 6); erratum 13.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.places.discrete_rivals import exponential, grid_points
from mechdesign.studies.places.regions import Rectangle

CHAPTER = "Directions and places"
TOLERANCE = near(1e-9)
PRINTED = 2.0
EPSILON, SIDE = 2.0, 10
POINTS = grid_points(Rectangle(0, 1, 0, 1), SIDE)


def by_table(epsilon: float) -> float:
    x, y = (axis.ravel() for axis in np.meshgrid(np.linspace(0, 1, SIDE), np.linspace(0, 1, SIDE)))
    apart = np.hypot(np.subtract.outer(x, x), np.subtract.outer(y, y))
    law = np.exp(-epsilon * apart / (2 * apart.max(axis=1, keepdims=True)))
    logs = np.log(law / law.sum(axis=1, keepdims=True))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def answer() -> tuple[float, float]:
    return exponential(POINTS, EPSILON, published=True).privacy_loss(), by_table(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 10, 20)
    axes.plot(epsilons, [by_table(epsilon) for epsilon in epsilons], "o-", label="as published")
    axes.plot(epsilons, epsilons, "--", label="allowed")
    title = "What the exponential mechanism on 100 points spends"
    axes.set(title=title, xlabel="eps it is compared at", ylabel="privacy loss")
    axes.legend()
