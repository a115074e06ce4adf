"""The Power post-processing of published code expects noise 64 times too small.

Power replaces each estimated count by its posterior mean under a power law, so it needs the variance of an estimated
count: ``4 n e^eps / (e^eps - 1)^2`` for optimised unary encoding. The published code puts the number of distinct
counts where the number n of users belongs and uses 1/k of it.

Ours is the package's variance for k = 64, n = 20,000, eps = 1; the reference is the formula; printed is what the code
computes.

From: Wang et al. 2020 (Power), in the code published with LDP3; erratum 10.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
PRINTED = 1150.84
K, N, EPSILON = 64, 20_000, 1.0


def answer() -> tuple[float, float]:
    law = md.frequencies.protocol("oue", EPSILON, K)
    return float(law.variance(0.0, N)) * N**2, 4 * N * np.exp(EPSILON) / (np.exp(EPSILON) - 1) ** 2


def picture(axes: Axes) -> None:
    law, rng = md.frequencies.protocol("oue", EPSILON, K), np.random.default_rng(1)
    counts = np.zeros(K, dtype=int)
    counts[0] = N
    seen = np.concatenate([law.estimate(law.simulate(counts, rng), N)[1:] * N for _ in range(300)])
    axes.hist(seen, bins=80, density=True, alpha=0.5, label="simulated")
    x = np.linspace(-900, 900, 600)
    for variance, style, name in ((answer()[0], "-", "right variance"), (PRINTED, "--", "published code's")):
        heights = np.exp(-(x**2) / (2 * variance)) / np.sqrt(2 * np.pi * variance)
        axes.plot(x, heights, style, label=name, linewidth=2)
    axes.set(
        title="Estimates of an item nobody holds, and what Power allows for",
        xlabel="estimated count (users)",
        ylabel="density",
        ylim=(0, 0.0125),
    )
    axes.set_xlim(-900, 900)
    axes.legend()
