"""The best unbiased report falls into two clouds outside, or also into one between.

Among all unbiased eps-LDP mechanisms for values in [-1, 1] that of the least ``max_x E[(Y - x)^2 | x]`` reports, at
eps = 0.5, numbers from 3.2 to 5.2 and their mirror images, and nothing between. From some eps below 1 on a third cloud
opens at 0, as HM mixes PM into Duchi's mechanism from 0.61 on. At eps = 2 it holds 22% of the base measure, which is
what a report has whatever the value is, and the others lie from 1.1 to 1.7; no report falls into the gaps between.

Ours is the share of the base of the certified optimum in the middle at eps = 2; the reference is that of a linear
program over all unbiased laws on a grid of reports, for a few values.

From: this package (unbiased optimum in the worst case).
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.mechanisms import UnbiasedWindow
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.best_mean import best, on_a_grid

CHAPTER = "Means"
TOLERANCE = near(5e-2)
EPSILON, MIDDLE, REACH = 2.0, 0.7, 2.0


def window(epsilon: float) -> UnbiasedWindow:
    law = best(epsilon).mechanism
    assert isinstance(law, UnbiasedWindow)
    return law


def answer() -> tuple[float, float]:
    law = window(EPSILON)
    _, reports, base = on_a_grid(EPSILON, REACH)
    ours, theirs = (m[np.abs(y) < MIDDLE].sum() / m.sum() for y, m in ((law.points, law.base), (reports, base)))
    return float(ours), float(theirs)


def picture(axes: Axes) -> None:
    for epsilon in (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0):
        law = window(epsilon)
        shares, edges = np.histogram(law.points, bins=110, range=(-5.5, 5.5), weights=law.base / law.base.sum())
        axes.scatter(np.full(shares.size, epsilon), (edges[:-1] + edges[1:]) / 2, 500 * shares, color="black")
    title, report = "Where the best unbiased report falls", "report, for values in [-1, 1]"
    axes.set(title=title, xlabel="privacy parameter eps", ylabel=report)
