"""Subset selection: report d of k items, about k / (e^eps + 1) of them.

A report is a set of d items; sets with the user's own item are ``e^eps`` times as likely as others. The total
variance of all k estimated frequencies is least at a d next to ``k / (e^eps + 1)``; as k grows no protocol does
better.

Ours is the total variance of one report's estimates with the package's d (k = 7, eps = 1, uniform items); the
reference is the least over all d, each found by writing down every set.

From: Ye and Barg 2018; Wang et al. 2016 (the same mechanism).
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
K, EPSILON = 7, 1.0


def by_enumeration(d: int, epsilon: float = EPSILON) -> float:
    """The variance of ``(support - q) / (p - q)``, summed over items, from the table of all sets."""
    sets = np.array([[item in chosen for item in range(K)] for chosen in itertools.combinations(range(K), d)])
    table = np.where(sets.T, np.exp(epsilon), 1.0)
    table /= table.sum(axis=1, keepdims=True)  # a row an item, a column a set
    support = table @ sets
    p, q = support[0, 0], support[0, 1]
    estimates = (sets - q) / (p - q)
    squares = table @ (estimates**2) - (table @ estimates) ** 2
    return float(squares.sum(axis=1).mean())


def answer() -> tuple[float, float]:
    law = md.frequencies.protocol("ss", EPSILON, K)
    return K * float(law.variance(1 / K, 1)), min(by_enumeration(d) for d in range(1, K))


def picture(axes: Axes) -> None:
    sizes = np.arange(1, K)
    for epsilon, style in ((0.5, "o-"), (1.0, "s--"), (2.0, "^:")):
        axes.plot(sizes, [by_enumeration(int(d), epsilon) for d in sizes], style, label=f"eps = {epsilon:g}")
    axes.set(
        title="How many of 7 items to report", xlabel="items in a report, d", ylabel="total variance of one report"
    )
    axes.set_yscale("log")
    axes.legend()
