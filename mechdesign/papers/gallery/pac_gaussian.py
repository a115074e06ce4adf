"""Gaussian noise for (eps, delta)-PAC-LDP needs two thirds of the printed deviation.

The loss of Gaussian noise of deviation s between 0 and 1 is normal with mean ``1 / (2 s^2)`` and deviation ``1 / s``.
It exceeds eps with probability ``Phi(1 / (2 s) - eps s)``; theorem 18 bounds that tail. At eps = 2, delta = 0.1 it
asks for s = 1.402; 0.914 is enough.

Ours is the package's least deviation; the reference solves the normal tail; printed is theorem 18's (enough, not
least).

From: Refined mechanism design, theorem 18 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import norm

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import root
from mechdesign.studies.classifiers.pac import gaussian_deviation, printed_deviation

CHAPTER = "Classifiers"
TOLERANCE = near(1e-9)
PRINTED = 1.402
EPSILON, DELTA = 2.0, 0.1


def exceeds(deviation: float) -> float:
    return float(norm.sf(EPSILON, loc=1 / (2 * deviation**2), scale=1 / deviation))


def answer() -> tuple[float, float]:
    return gaussian_deviation(EPSILON, DELTA), root(lambda deviation: exceeds(deviation) - DELTA, 0.3, 5)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 6, 60)
    axes.plot(epsilons, [printed_deviation(epsilon, DELTA) for epsilon in epsilons], "--", label="theorem 18")
    axes.plot(epsilons, [gaussian_deviation(epsilon, DELTA) for epsilon in epsilons], label="least")
    axes.set(title="Gaussian noise on [0, 1], delta = 0.1", xlabel="eps", ylabel="standard deviation of the noise")
    axes.set_ylim(bottom=0)
    axes.legend()
