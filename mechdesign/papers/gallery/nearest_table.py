"""In squares, nothing private is nearer to the truth than k-ary randomised response.

``sum over x and y of (q[x, y] - [x = y])^2`` is at least ``k^2 (1 - p)^2 / (k - 1)``, ``p = e^eps / (e^eps + k - 1)``:
it is convex and treats all categories alike, so a table may be averaged over all ways to rename them without a loss,
and is then an honest answer with some chance p, which privacy bounds, and else any other one alike.

Ours is the proven lower bound for a squared objective stated in CVXPY (k = 4, eps = 1); the reference is the formula.

From: Warner 1965; k categories: Kairouz, Bonawitz and Ramage, ICML 2016. The squared form is ours.
"""

import cvxpy as cp
import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Categories"
TOLERANCE = near(1e-6)
EPSILON = 1.0
CATEGORIES = 4


def nearest(epsilon: float) -> float:
    distance = md.Objective(lambda q: cp.sum_squares(q - np.eye(CATEGORIES)))
    problem = md.Problem(
        inputs=md.Finite(tuple(range(CATEGORIES))), loss=distance, privacy=md.Pure(epsilon), criterion=md.Total()
    )
    return md.solve(problem).certificate.lower


def formula(epsilon: float) -> float:
    lies = (CATEGORIES - 1) / (np.exp(epsilon) + CATEGORIES - 1)
    return float(CATEGORIES**2 * lies**2 / (CATEGORIES - 1))


def answer() -> tuple[float, float]:
    return nearest(EPSILON), formula(EPSILON)


def picture(axes: Axes) -> None:
    fine, coarse = np.linspace(0.05, 6, 200), np.linspace(0.5, 6, 8)
    axes.plot(fine, [formula(epsilon) for epsilon in fine], label="randomised response")
    axes.plot(coarse, [nearest(epsilon) for epsilon in coarse], "o", label="proven lower bound")
    axes.set(title="How near to the truth a table can be", xlabel="eps", ylabel="squared distance", ylim=(0, None))
    axes.legend()
