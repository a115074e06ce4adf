"""Over all mechanisms the worst absolute error is a sixth below OGPM's at eps = 1.

OGPM keeps the densities of one value within ``e^eps`` of each other. LDP asks that of two values at one report only,
which leaves room: some reports may be rare for everybody. The least worst ``E|y - x|`` on [0, 1] is 0.3162 at eps =
1; OGPM has ``1 / (1 + e^(1/2)) = 0.3775``.

Ours is the certified optimum; the reference solves a linear program over 41 values and 81 reports.

From: certified by this package (CERTIFIED.md); the program for finite sets is Kairouz, Oh and Viswanath's, 2014.
"""

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import private, program, sums

CHAPTER = "One number"
TOLERANCE = near(5e-4)
EPSILON, VALUES, REPORTS = 1.0, 41, 81
PROBLEM = md.Problem(inputs=md.Interval(0, 1), loss=md.Absolute(), privacy=md.Pure(EPSILON))


def on_a_grid(epsilon: float) -> float:
    """Laws ``q_x`` between b and ``e^eps b``, and the largest of their errors, t: the least t."""
    x, y = np.linspace(0, 1, VALUES), np.linspace(0, 1, REPORTS)
    laws = private(VALUES, REPORTS, epsilon)
    errors = sparse.block_diag([np.abs(y - value)[None, :] for value in x])
    worst = sparse.hstack([errors, sparse.csr_array((VALUES, REPORTS)), sparse.csr_array(-np.ones((VALUES, 1)))])
    rows = sparse.vstack([sparse.hstack([laws, sparse.csr_array((laws.shape[0], 1))]), worst])
    cost = np.append(np.zeros(laws.shape[1]), 1)
    return program(cost, sums(VALUES, np.ones(REPORTS), REPORTS + 1), np.ones(VALUES), rows)[0]


def answer() -> tuple[float, float]:
    return md.solve(PROBLEM, gap=1e-4).certificate.upper, on_a_grid(EPSILON)


def picture(axes: Axes) -> None:
    x = np.linspace(0, 1, 301)
    best: Any = md.solve(PROBLEM, gap=1e-3).mechanism
    laws = ((best, "optimum", "-"), (md.catalogue.ogpm(EPSILON), "OGPM", "--"))
    for mechanism, name, style in laws:
        axes.plot(x, mechanism.expected_loss(x, md.Absolute()), style, label=name)
    axes.set(title="Expected absolute error at eps = 1", xlabel="value x", ylabel="expected |y - x|")
    axes.set_ylim(bottom=0)
    axes.legend()
