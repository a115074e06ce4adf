"""No mechanism at all has less noise in a histogram than subset selection.

For an unbiased linear estimator the least noise is ``min tr(M^-1) - 1`` over all channels, and rows with entries 1 and
c suffice. All types being alike, M is ``a I + b J``, and the best rows have one number d of entries c.

Ours is the proven lower end of the optimum over all mechanisms (k = 12, eps = 1); the reference is the variance of
subset selection with the best d, less that of drawing the items themselves.

From: this package; subset selection is of Ye and Barg 2018, who prove it best as k grows.
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.words.workloads import Histogram, Workload

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-6)
K, EPSILON = 12, 1.0


def selection(d: int, epsilon: float) -> float:
    """A set of d items holds one's own with chance p, and another with chance q."""
    c = math.exp(epsilon)
    p = d * c / (d * c + K - d)
    q = (d - p) / (K - 1)
    mean = d / K
    return K * mean * (1 - mean) / (p - q) ** 2 - (1 - 1 / K)


def answer() -> tuple[float, float]:
    problem = md.Problem(loss=Workload(Histogram(K)), privacy=md.Pure(EPSILON), criterion=md.Average())
    found = md.solve(problem, gap=1e-3).certificate
    return found.lower, min(selection(d, EPSILON) for d in range(1, K))


def picture(axes: Axes) -> None:
    sizes = np.arange(1, K)
    for epsilon, style in ((0.5, "o-"), (1.0, "s--"), (2.0, "^:")):
        axes.plot(sizes, [selection(int(d), epsilon) for d in sizes], style, label=f"eps = {epsilon:g}")
    axes.axhline(answer()[0], color="black", label="proven floor, eps = 1")
    axes.set(title="Noise in the shares of 12 items", xlabel="items in a report, d", ylabel="variance, one user")
    axes.set_yscale("log")
    axes.legend()
