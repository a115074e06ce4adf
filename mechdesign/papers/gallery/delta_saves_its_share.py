"""A delta saves its own share of the error, and no more.

Telling the truth with probability delta, and drawing from the best eps-LDP mechanism otherwise, is (eps, delta)-LDP:
what one input has above ``e^eps`` times another is in that truth. So where every input has a report without loss, the
least loss with a delta is at most ``1 - delta`` times the one without. For wrong answers it is just that: rows a, b
with ``a - e^eps b = delta``. A delta of a millionth saves a millionth.

Ours is the certified optimum at eps = 1, delta = .05 for distances between five places; the reference is .95 times the
certified optimum without a delta.

From: folklore; for two inputs Kairouz, Oh and Viswanath 2015, *The composition theorem for differential privacy*.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Categories"
TOLERANCE = near(1e-6)
EPSILON, DELTA = 1.0, 0.05
DISTANCES = np.abs(np.subtract.outer(np.arange(5.0), np.arange(5.0)))


def least(privacy: md.Pure | md.Approximate) -> float:
    return md.solve(md.Problem(loss=DISTANCES, privacy=privacy)).certificate.upper


def answer() -> tuple[float, float]:
    return least(md.Approximate(EPSILON, DELTA)), (1 - DELTA) * least(md.Pure(EPSILON))


def picture(axes: Axes) -> None:
    deltas, without = np.linspace(0, 0.5, 9), least(md.Pure(EPSILON))
    axes.plot(deltas, (1 - deltas) * without, label="(1 - delta) x optimum without")
    found = [least(md.Approximate(EPSILON, float(delta))) for delta in deltas]
    axes.plot(deltas, found, "o", label="certified optimum")
    axes.set(title="What a delta saves, eps = 1", xlabel="delta", ylabel="worst-case distance")
    axes.legend()
