"""Chebyshev's bound on a missed alarm, by the formula it is printed beside.

The estimate has variance ``n p q / (p - q)^2``, so it is on the wrong side of the capacity with probability at most
``n p q / ((p - q) (total - capacity))^2``. For 500 of 1,000, a capacity of 400 and eps = 0.4 that is 0.617; 0.588 is
printed.

Ours is the package's bound; the reference is the formula; printed is the figure's number.

From: CAPRI (budget selection), section 4.2.2 and figure 4.1a; erratum 16.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.budgets.capacity import Capacity
from mechdesign.studies.budgets.outlook import outlook

CHAPTER = "How much epsilon"
TOLERANCE = near(1e-9)
PRINTED = 0.588
USERS, TOTAL, CAP, EPSILON = 1000, 500, 400, 0.4
CAPACITY = Capacity([0, 1], [USERS - TOTAL, TOTAL], CAP)


def answer() -> tuple[float, float]:
    p = 1 / (1 + np.exp(-EPSILON))
    formula = USERS * p * (1 - p) / ((2 * p - 1) * (TOTAL - CAP)) ** 2
    return outlook(CAPACITY, "grr", EPSILON).chebyshev, float(formula)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.25, 0.9, 60)
    found = [outlook(CAPACITY, "grr", epsilon) for epsilon in epsilons]
    axes.plot(epsilons, [one.chebyshev for one in found], "--", label="Chebyshev's bound")
    axes.plot(epsilons, [one.probability["FN"] for one in found], label="exact")
    axes.plot(EPSILON, PRINTED, "s", label="the bound as printed")
    axes.set(title="Chance that an alarm is missed", xlabel="eps", ylabel="probability", ylim=(0, 1.05))
    axes.legend()
