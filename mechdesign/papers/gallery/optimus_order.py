"""How much eps it takes to tell which of two items is more frequent, 9 times in 10.

Optimus asks for the smallest eps at which a constraint on the estimates holds with a probability, and searches for it
by simulation. With two items and randomised response it can be computed: of 520 and 480 users the order comes out
right if ``T = Bin(520, p) + Bin(480, q)`` is above 500, ``p = e^eps / (1 + e^eps), q = 1 - p``.

Ours is the eps at which the package's certified search ends (Kendall's tau at least 1/2, which means 1, with
probability 0.9); the reference solves the two binomial laws. The certified eps is the upper end of a bracket that is
wrong with a chance of 5% at most; it ends above the reference.

From: Optimus (budget selection), sections 3.4 and 4.1.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.stats import binom

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import root
from mechdesign.studies.budgets.constraint import Constraint
from mechdesign.studies.budgets.runner import METHODS, Task, run
from mechdesign.studies.budgets.simulation import Question

CHAPTER = "How much epsilon"
TOLERANCE = near(0.05)
COUNTS, WISHED = (520, 480), 0.9
QUESTION = Question("grr", np.array(COUNTS), Constraint("kendall", 0.5, WISHED))


def right(epsilon: float) -> float:
    p = 1 / (1 + np.exp(-epsilon))
    own = np.arange(COUNTS[0] + 1)
    return float(binom.pmf(own, COUNTS[0], p) @ binom.sf(sum(COUNTS) // 2 - own, COUNTS[1], 1 - p))


def found(method: str) -> float:
    return float(run([Task(QUESTION, method)])[0].epsilon or np.nan)


def answer() -> tuple[float, float]:
    return found("certified"), root(lambda epsilon: right(epsilon) - WISHED, 0.2, 8)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 4, 100)
    axes.plot(epsilons, [right(epsilon) for epsilon in epsilons], color="black", label="exact")
    for method, mark in zip(METHODS, "*osD^v", strict=True):
        epsilon = found(method)
        if epsilon < epsilons[-1]:
            axes.plot(epsilon, right(epsilon), mark, markersize=8, label=method)
    axes.axhline(WISHED, color="grey", linewidth=0.8)
    title = "Which of two items has 520 of 1,000 users?"
    axes.set(title=title, xlabel="eps", ylabel="chance that the order comes out right")
    axes.legend()
