"""A count-mean sketch has the noise of unary encoding, and a little for collisions.

A client draws one of m public hash functions and sends its number and w bits, of which the hash of the item is set;
each bit is flipped with probability ``1 / (e^(eps/2) + 1)``. With ``c = (e^(eps/2) + 1) / (e^(eps/2) - 1)`` the
server's estimate of an item that nobody holds has the variance ``(w / (w - 1))^2 ((c^2 - 1) / 4 + (w - 1) / w^2)`` a
user, under an ideal hash. The report is as long for thousands of items as for ten.

Ours is ``q (1 - q) / (p - q)^2`` with the p and q of the table that is shipped, fractions of whole counts; the
reference is the formula.

From: Differential Privacy Team, Apple, Learning with Privacy at Scale, 2017 (its estimator and its algorithm 4).
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
BUCKETS = 64
ITEMS = 4096


def shipped(epsilon: float, buckets: int) -> float:
    chances = md.frequencies.protocol_table("cms", epsilon, ITEMS, 53, functions=16, buckets=buckets).chances
    assert chances is not None
    return float(chances.q * (1 - chances.q) / (chances.p - chances.q) ** 2)


def formula(epsilon: float, w: int) -> float:
    c = (math.exp(epsilon / 2) + 1) / (math.exp(epsilon / 2) - 1)
    return (w / (w - 1)) ** 2 * ((c * c - 1) / 4 + (w - 1) / w**2)


def answer() -> tuple[float, float]:
    return shipped(2.0, BUCKETS), formula(2.0, BUCKETS)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 6, 40)
    for buckets, style in ((16, ":"), (64, "--"), (1024, "-")):
        axes.plot(epsilons, [shipped(epsilon, buckets) for epsilon in epsilons], style, label=f"sketch, {buckets} bits")
    symmetric = [md.frequencies.protocol("sue", epsilon, ITEMS).variance(0.0, 1).item() for epsilon in epsilons]
    axes.plot(epsilons, symmetric, color="grey", linewidth=0.8, label=f"SUE, {ITEMS} bits")
    axes.set_yscale("log")
    axes.set(title="Noise of a sketch", xlabel="eps", ylabel="variance of an absent item, times users")
    axes.legend()
