"""Several numbers of a person: no unbiased report of them has less noise than this.

Numbers lie in ``[-1, 1]^d``; the error is ``E|Y - x|^2`` at the worst x. With s uniform on the sign patterns the mean
of s, given any report, has at most the length ``H = max_T (c-1) |E[s; s in T]| / (1 + (c-1) P(T))``, ``c = e^eps``, so
that every unbiased report has a worst error of at least ``d^2 / H^2 - d``. Signs of some of the numbers, as a pattern,
attain ``d^2 / H^2``: for d = 4 and eps = 2 the optimum lies between 17.153 and 21.153.

Ours is the certified lower end for d = 4 and eps = 2; the reference tries all 65,536 sets T of sign patterns.

From: this package (sign patterns).
"""

import itertools
import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-9)
EPSILON, NUMBERS = 2.0, 4


def least(epsilon: float, count: int) -> tuple[float, float]:
    inputs, privacy = md.cube_of(count), md.Pure(epsilon)
    problem = md.Problem(inputs=inputs, loss=md.Squared(), privacy=privacy, among=md.Unbiased())
    found = md.solve(problem, method="sign_patterns").certificate
    return found.lower, found.upper


def by_all_sets(epsilon: float, count: int) -> float:
    patterns = np.array(list(itertools.product((1, -1), repeat=count)))
    sets = np.arange(1 << len(patterns))[:, None] >> np.arange(len(patterns)) & 1
    rows = 1 + math.expm1(epsilon) * sets
    leans = ((rows @ patterns / rows.sum(axis=1, keepdims=True)) ** 2).sum(axis=1)
    return float(count**2 / leans.max() - count)


def answer() -> tuple[float, float]:
    return least(EPSILON, NUMBERS)[0], by_all_sets(EPSILON, NUMBERS)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 5, 19)
    for count, shade in ((10, "0.55"), (5, "0.7"), (2, "0.85")):
        low, high = zip(*(least(epsilon, count) for epsilon in epsilons), strict=True)
        axes.fill_between(epsilons, low, high, color=shade, label=f"{count} numbers")
    axes.set(title="Where the least worst error is", xlabel="eps", ylabel="E|Y - x|^2", yscale="log", ylim=(0.1, None))
    axes.legend()
