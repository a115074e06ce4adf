"""For the squared error the best central density is not e^(eps/2).

Among piecewise mechanisms on [0, 1] the least worst squared error has the base density m with ``m^3 (e^eps - 1)^2 =
(1 - m)^2 (m + 2)`` and the central density ``m e^eps``. Theorem 7 prints ``e^(eps/2)`` for this error too: at eps = 4
its worst error is 0.0492, a fifth more than the optimum.

Ours is the certified optimum of the class at eps = 4; the reference integrates the error at x = 0 for the root m of
the cubic; printed is theorem 7's error.

From: Refined mechanism design, theorem 7 (chapter 5); erratum 1.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import root

CHAPTER = "One number"
TOLERANCE = near(1e-9)
PRINTED = 0.0492
EPSILON = 4.0


def error_at_zero(base: float, epsilon: float = EPSILON) -> float:
    """Density ``base e^eps`` up to w, ``base`` from there to 1."""
    ratio = np.exp(epsilon)
    width = (1 - base) / (base * (ratio - 1))
    return float(base * (ratio * width**3 + 1 - width**3) / 3)


def best_base(epsilon: float = EPSILON) -> float:
    return root(lambda m: m**3 * np.expm1(epsilon) ** 2 - (1 - m) ** 2 * (m + 2), 0, 1)


def answer() -> tuple[float, float]:
    problem = md.Problem(inputs=md.Interval(0, 1), loss=md.Squared(), privacy=md.Pure(EPSILON), among=md.Piecewise())
    return md.solve(problem).certificate.upper, error_at_zero(best_base())


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.2, 8, 100)
    printed = np.array([error_at_zero(np.exp(-epsilon / 2), epsilon) for epsilon in epsilons])
    best = np.array([error_at_zero(best_base(epsilon), epsilon) for epsilon in epsilons])
    axes.plot(epsilons, 100 * (printed / best - 1))
    axes.set(title="Worst squared error with e^(eps/2)", xlabel="eps", ylabel="above the optimum of its class, in %")
