"""For a public classifier randomised response on its labels is the best there is.

Reports can be grouped by their label, so no eps-LDP mechanism keeps the worst of m labels with probability above
``e^eps / (e^eps + m - 1)``, and randomised response on the labels attains it. On average over labels with weights
``w_1 >= w_2 >= ...`` the most is ``max_s e^eps (w_1 + ... + w_s) / (e^eps + s - 1)``.

Ours is the package's average optimum for weights .5, .3, .15, .05 at eps = 1; the reference is a linear program over
all mechanisms on four labels.

From: this package (classifier floors); the program is Kairouz, Oh and Viswanath's, 2014.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import private, program, sums
from mechdesign.studies.classifiers.floor import label_optimum

CHAPTER = "Categories"
TOLERANCE = near(1e-9)
WEIGHTS = np.array([0.5, 0.3, 0.15, 0.05])
EPSILON = 1.0


def by_program(epsilon: float) -> float:
    k = WEIGHTS.size
    cost = np.append(-np.diag(WEIGHTS).ravel(), np.zeros(k))
    return -program(cost, sums(k, np.ones(k), k), np.ones(k), private(k, k, epsilon))[0]


def answer() -> tuple[float, float]:
    return label_optimum(EPSILON, WEIGHTS.size, WEIGHTS), by_program(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.05, 6, 80)
    axes.plot(epsilons, [label_optimum(e, 4, WEIGHTS) for e in epsilons], label="average, weights .5 .3 .15 .05")
    axes.plot(epsilons, [label_optimum(epsilon, 4) for epsilon in epsilons], "--", label="worst of 4 labels")
    axes.set(title="The most that any mechanism keeps labels", xlabel="eps", ylabel="chance that the label is kept")
    axes.set_ylim(0, 1.02)
    axes.legend()
