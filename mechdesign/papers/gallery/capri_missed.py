"""How likely a capacity alarm is missed, exactly.

600 of 1,000 households consume; the capacity is 500; reports go through randomised response at eps = 0.8. The
estimated total is ``(T - n q) / (p - q)``, where T, the reported ones, is ``Bin(600, p) + Bin(400, q)``. The alarm is
missed if the estimate is at most 500: with probability 0.0052, not 0.012.

Ours is the package's (by characteristic functions); the reference adds up the two binomial laws; printed is the
paper's simulation.

From: CAPRI (budget selection), figure 4.1a; erratum 16.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats
from mechdesign.studies.budgets.capacity import Capacity
from mechdesign.studies.budgets.outlook import outlook

CHAPTER = "How much epsilon"
TOLERANCE = near(1e-7)
PRINTED = 0.012
ONES, ZEROS, CAP, EPSILON = 600, 400, 500, 0.8


def totals(epsilon: float = EPSILON) -> tuple[Floats, Floats]:
    """Estimated totals and their probabilities."""
    p = 1 / (1 + np.exp(-epsilon))
    reported = np.convolve(binom.pmf(np.arange(ONES + 1), ONES, p), binom.pmf(np.arange(ZEROS + 1), ZEROS, 1 - p))
    return (np.arange(ONES + ZEROS + 1) - (ONES + ZEROS) * (1 - p)) / (2 * p - 1), reported


def answer() -> tuple[float, float]:
    estimates, chances = totals()
    exact = outlook(Capacity([0, 1], [ZEROS, ONES], CAP), "grr", EPSILON)
    return exact.probability["FN"], float(chances[estimates <= CAP + 1e-9].sum())


def picture(axes: Axes) -> None:
    estimates, chances = totals()
    axes.plot(estimates, chances, label="estimated total")
    missed = estimates <= CAP + 1e-9
    axes.fill_between(estimates[missed], chances[missed], alpha=0.6, label="alarm missed")
    axes.axvline(CAP, color="black", linestyle="--", label="capacity")
    axes.axvline(ONES, color="grey", linestyle=":", label="true total")
    title = "1,000 households through randomised response, eps = 0.8"
    axes.set(title=title, xlabel="estimated consumption", ylabel="probability", xlim=(400, 800))
    axes.legend()
