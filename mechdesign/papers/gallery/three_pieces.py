"""Three pieces suffice: hypothesis 1 is a theorem.

Let q be any law on [0, 1] with densities between b and ``e^eps b``, b free. For a given b the expected loss is linear
in q, so the best q has only these two heights: the higher one where the loss is below some level. For a loss with one
valley that is an interval around the value, whatever the number of pieces allowed.

Ours is the certified optimum with three pieces for squared error at eps = 2; the reference is a linear program with
1,000 pieces at the worst value, 0 (exact up to the width of a piece).

From: Refined mechanism design, hypothesis 1 (chapter 5); erratum 2.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, private, program

CHAPTER = "One number"
TOLERANCE = near(1e-5)
EPSILON, PIECES = 2.0, 1000


def many_pieces(count: int) -> tuple[float, Floats]:
    """The least mean of ``y^2``, and the densities. The base, one for all pieces, is the last variable."""
    cuts = np.linspace(0, 1, count + 1)
    laws = private(1, count, EPSILON)
    rows = np.hstack([laws[:, :count].toarray(), laws[:, count:].sum(axis=1).reshape(-1, 1)])
    value, found = program(np.append(np.diff(cuts**3) / 3, 0), [np.append(np.diff(cuts), 0)], [1], rows)
    return value, found[:-1]


def answer() -> tuple[float, float]:
    among = md.Piecewise(pieces=3)
    problem = md.Problem(inputs=md.Interval(0, 1), loss=md.Squared(), privacy=md.Pure(EPSILON), among=among)
    return md.solve(problem).certificate.upper, many_pieces(PIECES)[0]


def picture(axes: Axes) -> None:
    densities, outputs = many_pieces(200)[1], np.linspace(0, 1, 2001)
    best = md.catalogue.ogpm_squared(EPSILON)
    axes.stairs(densities, np.linspace(0, 1, 201), fill=True, alpha=0.4, label="200 pieces, free heights")
    axes.plot(outputs, best.density(outputs, np.array(0.0)), color="black", label="optimum with three pieces")
    axes.set(title="The best law of the value 0, squared error, eps = 2", xlabel="report y", ylabel="density")
    axes.legend()
