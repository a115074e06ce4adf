"""For an average error, randomised response on bins is best among all mechanisms.

For any prior and a loss ``|y - x|^p`` some k reports are optimal, that of the value's own bin told with probability
``e^eps / (e^eps + k - 1)``, any other with ``1 / (e^eps + k - 1)``. For the uniform prior and the absolute error at
eps = 1 two reports, at .343 and .657, have the least average error, 0.21349.

Ours is the certified optimum over all mechanisms; the reference minimises the average error over up to five reports.

From: this package (randomised response on bins), a case of the staircase mechanisms of Kairouz, Oh and Viswanath
2014.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, least_around

CHAPTER = "One number"
TOLERANCE = near(1e-5)
EPSILON = 1.0


def average(reports: Floats, epsilon: float = EPSILON) -> float:
    """All reports equally often, and the nearest more often."""
    y = np.sort(reports)
    ends = np.concatenate([[0.0], (y[1:] + y[:-1]) / 2, [1.0]])
    everywhere = np.sum(y**2 + (1 - y) ** 2) / 2
    nearest = np.sum((y - ends[:-1]) ** 2 + (ends[1:] - y) ** 2) / 2
    return float((everywhere + np.expm1(epsilon) * nearest) / (np.exp(epsilon) + y.size - 1))


def least(count: int, epsilon: float = EPSILON) -> float:
    return least_around(lambda reports: average(reports, epsilon), (np.arange(count) + 0.5) / count)


def answer() -> tuple[float, float]:
    unit, uniform = md.Interval(0, 1), md.Average(md.priors.uniform(md.Interval(0, 1)))
    problem = md.Problem(inputs=unit, loss=md.Absolute(), privacy=md.Pure(EPSILON), criterion=uniform)
    return md.solve(problem, gap=1e-5).certificate.upper, min(map(least, range(1, 6)))


def picture(axes: Axes) -> None:
    counts = range(1, 8)
    for epsilon, style in ((1.0, "o-"), (2.0, "s--"), (3.0, "^:")):
        axes.plot(counts, [least(count, epsilon) for count in counts], style, label=f"eps = {epsilon:g}")
    title = "Average error of randomised response on bins, uniform values"
    axes.set(title=title, xlabel="number of reports, k", ylabel="average |y - x|")
    axes.legend()
