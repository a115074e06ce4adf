"""A reliable alarm needs less than a third of the eps that Chebyshev's bound asks for.

The probability of a missed alarm falls with eps, so there is a smallest eps at which ``Pr[(T - n q) / (p - q) <=
capacity]`` is at most 1%, T being the reported ones. For 600 of 1,000 and a capacity of 500 it is 0.731; by
Chebyshev's bound it would be 2.478.

Ours is the package's search (to 1e-6); the reference solves for it with two binomial laws.

From: CAPRI (budget selection), section 4.2, with the exact law in place of its bound and its simulation.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import root
from mechdesign.studies.budgets.capacity import Capacity, Requirement
from mechdesign.studies.budgets.capri_exact import budget

CHAPTER = "How much epsilon"
TOLERANCE = near(3e-6)
ONES, ZEROS, CAP, MOST = 600, 400, 500, 0.01
CAPACITY = Capacity([0, 1], [ZEROS, ONES], CAP)


def missed(epsilon: float) -> float:
    """At half of all users as capacity, the estimate is at most that if at most half of the reports are ones."""
    p = 1 / (1 + np.exp(-epsilon))
    ones = np.arange(ONES + 1)
    return float(binom.pmf(ones, ONES, p) @ binom.cdf(CAP - ones, ZEROS, 1 - p))


def answer() -> tuple[float, float]:
    exact = root(lambda epsilon: missed(epsilon) - MOST, 0.1, 3)
    return budget(CAPACITY, Requirement("fn", MOST), "grr").epsilon, exact


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.05, 3.5, 120)
    p = 1 / (1 + np.exp(-epsilons))
    bound = (ONES + ZEROS) * p * (1 - p) / ((2 * p - 1) * (ONES - CAP)) ** 2
    axes.plot(epsilons, [missed(epsilon) for epsilon in epsilons], label="exact")
    axes.plot(epsilons, bound, "--", label="Chebyshev's bound")
    axes.axhline(MOST, color="black", linewidth=0.8, label="asked for: 1%")
    axes.set(title="How much eps an alarm needs", xlabel="eps", ylabel="chance of a missed alarm", yscale="log")
    axes.set_ylim(1e-5, 2)
    axes.legend()
