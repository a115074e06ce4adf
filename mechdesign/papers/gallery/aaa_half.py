"""Half the variance of the best competitor is out of reach of any unbiased noise.

AAA adds noise whose law depends on the value and is optimal for a prior. For values from N(0, 0.1^2) on [-1, 1] and
eps = 1 its paper reports about half the variance of the best published mechanism. The program is to minimise ``sum_x
w_x sum_y q(y|x) (y - x)^2`` where ``sum_y y q(y|x) = x`` and ``q(y|x) <= e^eps q(y|x')``. With all its constraints
(unbiasedness is missing in the paper's equation (15)) its optimum is about 0.906 of PM's variance, 0.909 on the 17
values taken here.

Ours is the certified optimum on 17 values as a share of PM's variance; the reference is a linear program over all
unbiased laws on the same grid, and PM's formula; printed is one half.

From: the AAA paper (adaptive additive noise), section 7.1 and figure 3(a); erratum 5.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse
from scipy.stats import norm

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import private, program, shared_weights, sums

CHAPTER = "Means"
TOLERANCE = near(1e-4)
PRINTED = 0.5
EPSILON, BINS, DEVIATION = 1.0, 16, 0.1
X, Y = np.linspace(-1, 1, BINS + 1), np.linspace(-4, 4, 4 * BINS + 1)


def least() -> float:
    n, m = X.size, Y.size
    equal = sparse.vstack([sums(n, np.ones(m), m), sums(n, Y, m)])
    weights = shared_weights(lambda x: norm.pdf(x, 0, DEVIATION), X)
    cost = np.append((weights[:, None] * (Y[None, :] - X[:, None]) ** 2).ravel(), np.zeros(m))
    return program(cost, equal, np.concatenate([np.ones(n), X]), private(n, m, EPSILON))[0]


def optimum(epsilon: float, bins: int, gap: float) -> float:
    inputs = md.Interval(-1, 1)
    prior, among = md.Average(md.priors.normal(0, DEVIATION, inputs)), md.OnGrid(bins)
    asked = md.Problem(inputs=inputs, loss=md.Squared(), privacy=md.Pure(epsilon), criterion=prior, among=among)
    return md.solve(asked, gap=gap).certificate.upper


def answer() -> tuple[float, float]:
    inputs = md.Interval(-1, 1)
    prior = md.priors.normal(0, DEVIATION, inputs)
    ours = optimum(EPSILON, BINS, 1e-4)
    h = np.exp(EPSILON / 2)
    formula = DEVIATION**2 / (h - 1) + (h + 3) / (3 * (h - 1) ** 2)
    return ours / md.catalogue.pm(EPSILON).average_loss(md.Squared(), prior), float(least() / formula)


def picture(axes: Axes) -> None:
    inputs, epsilons = md.Interval(-1, 1), (0.5, 1.0, 2.0, 3.0, 4.0)
    prior = md.priors.normal(0, DEVIATION, inputs)
    best = [optimum(e, 32, 1e-3) for e in epsilons]
    for name, style in (("PM", "o--"), ("Duchi", "s:"), ("staircase", "^-.")):
        rivals = [md.catalogue.build(name, e, inputs, md.Squared()).average_loss(md.Squared(), prior) for e in epsilons]
        axes.plot(epsilons, np.array(best) / rivals, style, label=f"of {name}'s variance")
    axes.axhline(PRINTED, color="black", linewidth=0.8, label="one half")
    axes.set(
        title="AAA's least variance, N(0, 0.1^2)", xlabel="eps", ylabel="share of the rival's variance", ylim=(0, 1.1)
    )
    axes.legend()
