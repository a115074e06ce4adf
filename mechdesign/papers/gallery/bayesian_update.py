"""Iterative Bayesian update finds the likeliest distribution.

For reports with channel ``A`` the update ``f_v <- f_v sum_y share_y A_vy / (f A)_y`` climbs to the maximum of the
likelihood ``sum_y share_y ln (f A)_y`` over distributions f. Unlike matrix inversion it never leaves the simplex.

Ours is the log-likelihood that the package reaches from reports of randomised response; the reference maximises it
with a general solver.

From: Agrawal and Aggarwal 2001; ElSalamouny and Palamidessi 2020; the IBU paper (utility gain of iterative Bayesian
update).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, most_among_shares
from mechdesign.studies.frequencies import estimators

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-6)
SHARES = np.array([0.30, 0.22, 0.16, 0.14, 0.10, 0.08])
LAW = md.frequencies.protocol("grr", 1.0, SHARES.size)


def likelihood(frequencies: Floats) -> float:
    lie = 1 / (np.e + SHARES.size - 1)
    return float(SHARES @ np.log((np.e - 1) * lie * frequencies + lie))


def answer() -> tuple[float, float]:
    return estimators.ibu(SHARES, LAW.p, LAW.q).log_likelihood, most_among_shares(likelihood, SHARES.size)


def picture(axes: Axes) -> None:
    items = np.arange(SHARES.size)
    likely = estimators.ibu(SHARES, LAW.p, LAW.q).frequencies
    axes.bar(items - 0.27, SHARES, 0.25, label="share of reports")
    axes.bar(items, (SHARES - LAW.q) / (LAW.p - LAW.q), 0.25, label="matrix inversion", hatch="//")
    axes.bar(items + 0.27, likely, 0.25, label="likeliest distribution", hatch="..")
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set(title="Two estimates from the same reports, eps = 1", xlabel="item", ylabel="frequency")
    axes.legend()
