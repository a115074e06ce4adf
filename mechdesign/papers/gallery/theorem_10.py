"""Theorem 10's unbiased mechanism is not the best with its own reports.

For values in [0, 1] theorem 10 spreads reports over ``[-C, C + 1]``, ``C = (e^(eps/2) + 1) / (e^(eps/2) - 1)``. The
base density b and the window may be chosen otherwise, with the same reports and still unbiased: at eps = 4 the
variance at the worst value, an end, falls from 0.2009 to 0.1557.

Ours is the least variance at x = 0 over base densities, by the package's exact moments; the reference is a linear
program over all densities between b and ``e^eps b`` with mean 0; printed is theorem 10's own variance, which it calls
optimal.

From: Refined mechanism design, theorem 10 (chapter 5); erratum 4.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.mechanisms.piecewise import AffineWindow
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import least, private, program

CHAPTER = "Means"
TOLERANCE = near(1e-4)
PRINTED = 0.2009
EPSILON = 4.0
PUBLISHED = md.catalogue.ogpm_unbiased(EPSILON)
REPORTS = md.Interval(PUBLISHED.outputs.lower, PUBLISHED.outputs.upper)


def variance(base: float) -> float:
    """At x = 0, of the mechanism with this base density and its window where the mean is x."""
    extra = 1 - base * REPORTS.length
    window = AffineWindow(slope=1 / extra, offset=-base * REPORTS.length / 2 / extra)
    law = md.catalogue.two_heights(EPSILON, md.Interval(0, 1), REPORTS, base, "unbiased", window)
    return float(law.moment(0.0, 2))


def of_any_law(count: int = 1000) -> float:
    cuts = np.linspace(REPORTS.lower, REPORTS.upper, count + 1)
    laws = private(1, count, EPSILON)
    rows = np.hstack([laws[:, :count].toarray(), laws[:, count:].sum(axis=1).reshape(-1, 1)])
    moments = [np.append(np.diff(cuts**k) / k, 0) for k in (1, 2, 3)]
    return program(moments[2], moments[:2], [1, 0], rows)[0]


def answer() -> tuple[float, float]:
    return least(variance, 0.2 * PUBLISHED.low, PUBLISHED.low)[1], of_any_law()


def picture(axes: Axes) -> None:
    bases = np.linspace(0.2, 1.1, 100) * PUBLISHED.low
    axes.plot(bases, [variance(base) for base in bases], label="unbiased, reports in [-C, C + 1]")
    axes.plot(PUBLISHED.low, PUBLISHED.variance(0.0), "s", label="theorem 10")
    axes.set(title="Variance of the value 0 at eps = 4", xlabel="base density", ylabel="variance of a report")
    axes.legend()
