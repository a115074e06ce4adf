"""The exponential mechanism as printed spends half of its epsilon.

Its weights are ``e^(-eps |y - x| / 2)`` on points of [0, 1], for scores of sensitivity 1. Rows are divided by their
sums. Both ends have the same sum, so what tells them apart is ``e^(eps / 2)``, and no two other values differ by
more: the loss is ``eps / 2``. So it keeps eps, as it says, and could be twice as sharp.

Ours is the privacy loss of the package's table at eps = 2; the reference computes it from the weights.

From: Refined mechanism design, definition 26 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats
from mechdesign.studies.classifiers.concentration import perturbation

CHAPTER = "Classifiers"
TOLERANCE = near(1e-9)
EPSILON = 2.0


def table(epsilon: float, points: Floats) -> Floats:
    weights = np.exp(-epsilon / 2 * np.abs(points[:, None] - points))
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def loss(epsilon: float, points: Floats) -> float:
    logs = np.log(table(epsilon, points))
    return float((logs.max(axis=0) - logs.min(axis=0)).max())


def answer() -> tuple[float, float]:
    law = perturbation("exponential-printed", EPSILON).mechanism
    return law.privacy_loss(), loss(EPSILON, np.asarray(law.outputs.points))  # type: ignore[union-attr]


def picture(axes: Axes) -> None:
    points, epsilons = np.linspace(0, 1, 101), np.linspace(0.25, 8, 32)
    axes.plot(epsilons, [loss(epsilon, points) for epsilon in epsilons], label="spent")
    axes.plot(epsilons, epsilons, "--", label="allowed")
    axes.set(title="The printed exponential mechanism on 101 points", xlabel="eps", ylabel="privacy loss")
    axes.legend()
