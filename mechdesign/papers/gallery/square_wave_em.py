"""EM on square wave reports finds the likeliest histogram.

Reports of the square wave mechanism, counted in bins, have the distribution ``w A``: w is the histogram of the values
and A the channel between bins. EM, ``w_i <- w_i sum_j share_j A_ij / (w A)_j``, climbs to the largest likelihood.

Ours is the log-likelihood per report that the package's EM reaches (6 bins, eps = 2, 20,000 made reports); the
reference is the largest a general solver finds, with a channel that was integrated numerically. EM stops a little
before.

From: Li, Wang, Lopuhaa-Zwakenberg, Li and Skoric 2020 (EM reaches the maximum).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, most_among_shares

CHAPTER = "Distributions"
TOLERANCE = near(1e-3)
BINS, EPSILON = 6, 2.0
LAW = md.catalogue.sw(EPSILON)
VALUES = np.random.default_rng(5).beta(2, 5, 20_000)
REPORTS = LAW.sample(VALUES, np.random.default_rng(6))
CUTS = np.linspace(LAW.outputs.lower, LAW.outputs.upper, BINS + 1)


def channel() -> Floats:
    inputs = (np.arange(6000) + 0.5) / 6000
    ratio = np.exp(EPSILON)
    half = (EPSILON * ratio - ratio + 1) / (2 * ratio * (ratio - 1 - EPSILON))
    inside = np.clip(CUTS[None, :] - (inputs[:, None] - half), 0, 2 * half)
    mass = np.diff((CUTS + half + (ratio - 1) * inside) / (2 * half * ratio + 1), axis=1)
    return np.asarray(mass.reshape(BINS, -1, BINS).mean(axis=1))


def answer() -> tuple[float, float]:
    shares, table = np.histogram(REPORTS, CUTS)[0] / REPORTS.size, channel()
    most = most_among_shares(lambda weights: float(shares @ np.log(weights @ table)), BINS)
    return md.frequencies.estimate_by_em(REPORTS, LAW, BINS).log_likelihood / REPORTS.size, most


def picture(axes: Axes) -> None:
    axes.hist(VALUES, bins=np.linspace(0, 1, 33).tolist(), density=True, alpha=0.4, label="values (hidden)")
    axes.hist(REPORTS, bins=64, density=True, histtype="step", label="reports")
    weights = md.frequencies.estimate_by_em(REPORTS, LAW, 32).weights
    axes.stairs(32 * weights, np.linspace(0, 1, 33), color="black", label="EM's histogram")
    axes.set(title="A distribution through the square wave, eps = 2", xlabel="value or report", ylabel="density")
    axes.legend()
