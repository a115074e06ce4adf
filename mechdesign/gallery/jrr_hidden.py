"""The best of all joint answers: every set of k liars weighs ``e^(-eps |k - k0|)``.

Joint answers of n users whose grouping nobody knows are a law of the number K of liars; those are a random set. Such a
law is private against everybody else together if ``P(K=k) / C(n, k)`` changes by a factor of at most ``e^eps`` from k
to ``k + 1``. The estimated count of ones has variance ``[4 s (1-s) / (n-1) E K(n-K) + (1-2s)^2 Var K] / (2p - 1)^2``
at a share s. The least is that of one whole number k0: two binomial pieces glued at k0. As n grows it falls to
``4 s (1-s)`` of randomised response's.

Program: minimise the variance over laws of K with ``P(K=l) (n-l) <= e^eps P(K=l+1) (l+1)`` and back. Ours is the
certified optimum for n = 1000, eps = 1, a share of 0.033; the reference is the least variance over all k0, from sums of
doubles.

From: this package (`mechdesign.design.hidden_joint.proof` has the proof).
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.gallery.agreement import near

TOLERANCE = near(1e-9)
USERS, EPSILON, SHARE = 1000, 1.0, 0.033


def variance(peak: int, share: float = SHARE, users: int = USERS) -> float:
    k = np.arange(users + 1)
    ways = [math.lgamma(users + 1) - math.lgamma(j + 1) - math.lgamma(users - j + 1) for j in k]
    heights = np.array(ways) - EPSILON * np.abs(k - peak)
    chances = np.exp(heights - heights.max())
    chances /= chances.sum()
    mean = float(chances @ k)
    spread = float(chances @ (k - mean) ** 2)
    mixed = float(chances @ (k * (users - k)))
    return (4 * share * (1 - share) / (users - 1) * mixed + (1 - 2 * share) ** 2 * spread) / (1 - 2 * mean / users) ** 2


def answer() -> tuple[float, float]:
    design = md.optimal_hidden(md.HiddenJointProblem(EPSILON, USERS, SHARE))
    return design.certificate.upper, min(variance(peak) for peak in range(200, 450))


def picture(axes: Axes) -> None:
    peaks = np.arange(150, 451, 3)
    alone = USERS * math.exp(EPSILON) / (math.exp(EPSILON) - 1) ** 2
    axes.plot(peaks, [variance(int(peak)) / alone for peak in peaks], label="peak at k0")
    axes.axhline(1, color="black", linestyle="--", label="randomised response")
    axes.axhline(4 * SHARE * (1 - SHARE), color="black", linestyle=":", label="4 s (1-s)")
    title = "1000 users who lie together, eps = 1, share 0.033"
    axes.set(title=title, xlabel="k0, users who lie", ylabel="variance / randomised response's", ylim=(0, 1.2))
    axes.legend()
