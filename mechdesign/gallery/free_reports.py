"""Reports that are free numbers do better than noise on a grid, a little.

AAA's reports are the value plus noise on the grid of the values. Among all unbiased eps-LDP mechanisms, whose reports
may be any real numbers, the least average variance ``sum_x w_x E[(Y - x)^2 | x]`` can only be lower: for values from
N(0, 0.1^2) and eps = 4 it is 0.0469 for 0.0475, 1.3% less.

Ours is the certified optimum over all unbiased mechanisms (upper end); the reference is the certified lower end of
the optimum of additive noise. Ours is the smaller one.

From: this package (unbiased optimum), against the AAA paper's program (11) with all its constraints.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.gallery.agreement import at_most

TOLERANCE = at_most(0.0)
EPSILON, BINS = 4.0, 32
INPUTS = md.Interval(-1, 1)
PRIOR = md.priors.normal(0, 0.1, INPUTS)


def free(epsilon: float) -> md.Design:
    return md.optimal_unbiased(md.UnbiasedProblem(epsilon, PRIOR, INPUTS, size=BINS + 1, gap=1e-3))


def answer() -> tuple[float, float]:
    noise = md.optimal_additive(md.AdditiveProblem(EPSILON, PRIOR, INPUTS, bins=BINS, gap=1e-3))
    return free(EPSILON).certificate.upper, noise.certificate.lower


def picture(axes: Axes) -> None:
    x = np.linspace(-1, 1, 401)
    rivals = ((md.catalogue.pm(EPSILON), "PM", "--"), (md.catalogue.duchi(EPSILON), "Duchi", ":"))
    for mechanism, name, style in ((free(EPSILON).mechanism, "optimum for N(0, 0.1^2)", "-"), *rivals):
        axes.plot(x, mechanism.variance(x), style, label=name)
    title = "Variance of unbiased reports, eps = 4"
    axes.set(title=title, xlabel="value x", ylabel="variance of a report (logarithmic)", yscale="log")
    axes.legend()
