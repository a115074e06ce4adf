"""A box with 1% of other labels may keep the label less often than 99% of its chance.

The chapter multiplies the chance of a box by ``1 - tau``, tau the share of its points with another label. But reports
are not uniform in the box: the 1% may lie where the density is largest, ``p = e^(eps/2)``. What is sure is the chance
of the box less ``tau |box| p``: 0.902 at eps = 4, theta = 0.3, tau = 0.01, not 0.936.

Ours is the package's proven bound; the reference is the formula with the box's chance by theorem 7; printed is the
product.

From: Refined mechanism design, section 7.3.3 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.classifiers.concentration import perturbation
from mechdesign.studies.classifiers.robustness import Robust
from mechdesign.studies.classifiers.survival import utility

CHAPTER = "Classifiers"
TOLERANCE = near(1e-9)
PRINTED = 0.936
EPSILON, TAU, CONFIDENCE_MISS = 4.0, 0.01, 0.05
LOW, HIGH, X = np.array([0.2]), np.array([0.8]), np.array([0.5])


def chance_of_box(epsilon: float = EPSILON) -> float:
    width, high = np.expm1(epsilon / 2) / np.expm1(epsilon), np.exp(epsilon / 2)
    return float(high * width + (0.6 - width) * high / np.exp(epsilon))


def answer() -> tuple[float, float]:
    box = Robust(LOW, HIGH, "tested", TAU, CONFIDENCE_MISS)
    proven = utility(box, perturbation("pm", EPSILON), X).bound
    return proven, chance_of_box() - TAU * 0.6 * float(np.exp(EPSILON / 2))


def picture(axes: Axes) -> None:
    epsilons = np.linspace(2.5, 8, 60)
    chances = np.array([chance_of_box(epsilon) for epsilon in epsilons])
    axes.plot(epsilons, (1 - TAU) * chances, "--", label="printed: the box's chance times 0.99")
    axes.plot(epsilons, chances - TAU * 0.6 * np.exp(epsilons / 2), label="what is sure")
    axes.set(title="How often a label is kept, tau = 0.01", xlabel="eps", ylabel="probability", ylim=(0.5, 1))
    axes.legend()
