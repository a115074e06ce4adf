"""Nothing asks a yes/no question better than randomised response.

With two inputs the chance of a false report is at least ``1 / (1 + e^eps)`` for one of them under any eps-LDP
mechanism, and randomised response, which tells the truth with probability ``e^eps / (1 + e^eps)``, attains it.

Ours is the certified optimum over all mechanisms (eps = 1); the reference is the formula.

From: Warner 1965; optimality: Kairouz, Oh and Viswanath 2014.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Categories"
TOLERANCE = near(1e-9)
EPSILON = 1.0


def least_lie(epsilon: float) -> float:
    wrong = 1 - np.eye(2)
    return md.solve(md.Problem(loss=md.Matrix(wrong), privacy=md.Pure(epsilon))).certificate.upper


def answer() -> tuple[float, float]:
    return least_lie(EPSILON), 1 / (1 + np.exp(EPSILON))


def picture(axes: Axes) -> None:
    fine, coarse = np.linspace(0.05, 6, 200), np.linspace(0.25, 6, 12)
    axes.plot(fine, 1 / (1 + np.exp(fine)), label="randomised response")
    axes.plot(coarse, [least_lie(epsilon) for epsilon in coarse], "o", label="certified optimum")
    axes.set(title="The least chance of a false answer", xlabel="eps", ylabel="chance of a false report", ylim=(0, 0.5))
    axes.legend()
