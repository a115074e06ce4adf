"""Reports that are free numbers do better than noise on a grid, a little.

AAA's reports are the value plus noise on the grid of the values. Among all unbiased eps-LDP mechanisms, whose reports
may be any real numbers, the least average variance ``sum_x w_x E[(Y - x)^2 | x]`` can only be lower: for values from
N(0, 0.1^2) and eps = 4 on 17 values it is 0.0472 for 0.0480, 1.7% less.

Ours is the certified optimum over all unbiased mechanisms (upper end); the reference is a linear program over all
unbiased laws on a grid of reports. Ours is the smaller one.

From: this package (unbiased optimum), against the AAA paper's program (11) with all its constraints.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse
from scipy.stats import norm

import mechdesign as md
from mechdesign.papers.gallery.agreement import at_most
from mechdesign.papers.gallery.reference import private, program, shared_weights, sums

CHAPTER = "Means"
TOLERANCE = at_most(0.0)
EPSILON, BINS = 4.0, 16
INPUTS = md.Interval(-1, 1)
PRIOR = md.priors.normal(0, 0.1, INPUTS)


def free(epsilon: float) -> md.Design:
    prior, among = md.Average(PRIOR), md.Unbiased()
    asked = md.Problem(inputs=INPUTS, loss=md.Squared(), privacy=md.Pure(epsilon), criterion=prior, among=among)
    return md.solve(asked, gap=1e-3, size=BINS + 1)


def on_the_grid(epsilon: float) -> float:
    x, y = np.linspace(-1, 1, BINS + 1), np.linspace(-3, 3, 3 * BINS + 1)
    weights = shared_weights(lambda value: norm.pdf(value, 0, 0.1), x)
    cost = np.append((weights[:, None] * (y[None, :] - x[:, None]) ** 2).ravel(), np.zeros(y.size))
    equal = sparse.vstack([sums(x.size, np.ones(y.size), y.size), sums(x.size, y, y.size)])
    return program(cost, equal, np.concatenate([np.ones(x.size), x]), private(x.size, y.size, epsilon))[0]


def answer() -> tuple[float, float]:
    return free(EPSILON).certificate.upper, on_the_grid(EPSILON)


def picture(axes: Axes) -> None:
    x = np.linspace(-1, 1, 401)
    rivals = ((md.catalogue.pm(EPSILON), "PM", "--"), (md.catalogue.duchi(EPSILON), "Duchi", ":"))
    for mechanism, name, style in ((free(EPSILON).own_law, "optimum for N(0, 0.1^2)", "-"), *rivals):
        axes.plot(x, mechanism.variance(x), style, label=name)
    title = "Variance of unbiased reports, eps = 4"
    axes.set(title=title, xlabel="value x", ylabel="variance of a report (logarithmic)", yscale="log")
    axes.legend()
