"""Optimised unary encoding sets the user's own bit with probability one half.

A user sends k bits: her own is 1 with probability p, any other with probability q, and ``p (1 - q) / (q (1 - p)) =
e^eps``. The variance of a rare item, ``q (1 - q) / (p - q)^2``, is least at ``p = 1/2, q = 1 / (e^eps + 1)``, where
it is ``4 e^eps / (e^eps - 1)^2``.

Ours is the package's variance at eps = 1; the reference is the least over p, found numerically.

From: Wang, Blocki, Li and Jha 2017 (optimised unary encoding).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import least

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
EPSILON = 1.0


def of_bits(p: float) -> float:
    odds = p / (1 - p) / np.exp(EPSILON)
    q = odds / (1 + odds)
    return float(q * (1 - q) / (p - q) ** 2)


def answer() -> tuple[float, float]:
    law = md.frequencies.protocol("oue", EPSILON, 10)
    return float(law.variance(0.0, 1)), least(of_bits, 0.1, 0.9)[1]


def picture(axes: Axes) -> None:
    p, symmetric = np.linspace(0.15, 0.9, 200), float(1 / (1 + np.exp(-EPSILON / 2)))
    axes.plot(p, [*map(of_bits, p)], label="all unary encodings at eps = 1")
    axes.plot(0.5, of_bits(0.5), "o", label="OUE")
    axes.plot(symmetric, of_bits(symmetric), "s", label="SUE (basic RAPPOR)")
    axes.set(title="Which unary encoding?", xlabel="chance p that the own bit is set", ylabel="variance, times users")
    axes.legend()
