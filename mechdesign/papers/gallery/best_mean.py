"""The least noise of a number that is reported without a bias: nobody's mechanism has it.

Among all unbiased eps-LDP mechanisms for values in [-1, 1], whose reports may be any real numbers, the least worst
variance ``max_x E[(Y - x)^2 | x]`` at eps = 1 is 3.9906. Duchi's mechanism has 4.683, PM 5.224 and HM, which is drawn
from both, 4.289: 7% more than is needed; at eps = 2 it is 20% more.

Ours is the certified optimum over all unbiased mechanisms, valid for every real value; the reference is a linear
program over all unbiased laws on a grid of reports, for a few values.

From: this package (unbiased optimum in the worst case).
"""

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, private, program, sums

CHAPTER = "Means"
TOLERANCE = near(2e-3)
EPSILON, REACH = 1.0, 4.5
VALUES, REPORTS = 13, 61


def best(epsilon: float) -> md.Design:
    inputs, privacy = md.Interval(-1, 1), md.Pure(epsilon)
    return md.solve(md.Problem(inputs=inputs, loss=md.Squared(), privacy=privacy, among=md.Unbiased()))


def on_a_grid(epsilon: float, reach: float) -> tuple[float, Floats, Floats]:
    """The least worst variance of a few values on a grid of reports, the reports, and the base measure there."""
    x, y = np.linspace(-1, 1, VALUES), np.linspace(-reach, reach, REPORTS)
    more = y.size + 1  # the base, and the worst variance
    equal = sparse.vstack([sums(x.size, np.ones(y.size), more), sums(x.size, y, more)])
    laws = sparse.block_diag([(y**2 - value**2)[None, :] for value in x])
    variance = sparse.csr_array(-np.ones((x.size, 1)))
    worst = sparse.hstack([laws, sparse.csr_array((x.size, y.size)), variance])
    rows = private(x.size, y.size, epsilon)
    rows = sparse.hstack([rows, sparse.csr_array((rows.shape[0], 1))])
    cost = np.append(np.zeros(x.size * y.size + y.size), 1.0)
    found, mass = program(cost, equal, np.concatenate([np.ones(x.size), x]), sparse.vstack([rows, worst]))
    return found, y, mass[x.size * y.size : -1]


def answer() -> tuple[float, float]:
    return best(EPSILON).certificate.upper, on_a_grid(EPSILON, REACH)[0]


def picture(axes: Axes) -> None:
    x = np.linspace(-1, 1, 401)
    rivals = ((name, md.catalogue.build(name, EPSILON, md.Interval(-1, 1))) for name in ("duchi", "pm", "hm"))
    for (name, mechanism), style in zip(rivals, (":", "--", "-."), strict=True):
        axes.plot(x, mechanism.variance(x), style, label=name)
    axes.plot(x, best(EPSILON).scalar_law.variance(x), color="black", label="optimum over all unbiased mechanisms")
    axes.set(title="Variance of one unbiased report, eps = 1", xlabel="value x", ylabel="variance", ylim=(0, None))
    axes.legend()
