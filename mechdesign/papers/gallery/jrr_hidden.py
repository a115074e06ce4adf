"""The best of all joint answers: every set of k liars weighs ``e^(-eps |k - k0|)``.

Joint answers of n users whose grouping nobody knows are a law of the number K of liars; those are a random set. Such a
law is private against everybody else together if ``P(K=k) / C(n, k)`` changes by a factor of at most ``e^eps`` from k
to ``k + 1``. The estimated count of ones has variance ``[4 s (1-s) / (n-1) E K(n-K) + (1-2s)^2 Var K] / (2p - 1)^2``
at a share s. The least is that of one whole number k0: two binomial pieces glued at k0. As n grows it falls to
``4 s (1-s)`` of randomised response's.

Closed form: with ``P = e^eps / (1 + e^eps)``, ``Q = 1 - P`` and the binomial distribution function F, the factorial
moments ``E K (K-1) ... (K-r+1)`` are proportional to ``(n)_r [e^(-eps k0) P^r F(k0-r; n-r, P) + e^(eps (k0-n)) Q^r (1 -
F(k0-r; n-r, Q))]``.

Program: minimise the variance over laws of K with ``P(K=l) (n-l) <= e^eps P(K=l+1) (l+1)`` and back. Ours is the
certified optimum for n = 1000, eps = 1, a share of 0.033; the reference is the least closed form over all k0.

From: this package (`mechdesign.methods.hidden_joint.proof` has the proof).
"""

import math

import numpy as np
from matplotlib.axes import Axes
from scipy import special, stats

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-6)
USERS, EPSILON, SHARE = 1000, 1.0, 0.033


def moments(peak: int) -> tuple[float, float]:
    """Mean and variance of the number of liars, from the two binomial pieces."""
    truth = math.exp(EPSILON) / (1 + math.exp(EPSILON))
    logs = []
    for r in range(3):
        falling = sum(math.log(USERS - j) for j in range(r))
        up = r * math.log(truth) - EPSILON * peak + stats.binom.logcdf(peak - r, USERS - r, truth)
        down = r * math.log(1 - truth) + EPSILON * (peak - USERS) + stats.binom.logsf(peak - r, USERS - r, 1 - truth)
        logs.append(falling + special.logsumexp([up, down]))
    mean, pairs = (math.exp(one - logs[0]) for one in logs[1:])
    return mean, pairs + mean - mean**2


def variance(peak: int) -> float:
    mean, spread = moments(peak)
    mixed = USERS * mean - spread - mean**2
    left = 1 - 2 * mean / USERS
    return (4 * SHARE * (1 - SHARE) / (USERS - 1) * mixed + (1 - 2 * SHARE) ** 2 * spread) / left**2


def answer() -> tuple[float, float]:
    together = md.Problem(loss=md.Count(SHARE), privacy=md.Hidden(EPSILON, USERS), among=md.Together())
    design = md.solve(together)
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
