"""At eps = 1 no private report is nearer in squares than one bit, by a theorem for Coq.

For eps = 1 no eps-LDP mechanism, with any number of reports, has a smaller worst squared error on [0, 1] than
``e^eps / (1 + e^eps)^2``: the variance of a coin that says which end the number is nearer to. A certificate proves it
with atoms, `export --to coq` writes them as a theorem, ``nothing_is_better``, and `verify --formal` has Coq accept it.

Ours is the number in the theorem, a fraction of twelve digits that is rounded down; the reference is the formula.

From: the theorems are `line_everywhere` of `mechdesign/tables/formal/theories/Line.v` and `levelled` of `Optima.v`.
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.tables.formal.floors.evidence import stated_floor

CHAPTER = "One number"
TOLERANCE = near(1e-9)
EPSILON = 1.0


def stated(epsilon: float) -> float:
    """The number that no mechanism is below."""
    problem = md.Problem(inputs=md.Interval(0, 1), loss=md.Squared(), privacy=md.Pure(epsilon))
    design = md.solve(problem, gap=1e-4)
    floor = stated_floor(md.make_table(design), design)
    assert floor is not None
    return float(floor.least)


def answer() -> tuple[float, float]:
    c = math.exp(EPSILON)
    return stated(EPSILON), c / (1 + c) ** 2


def picture(axes: Axes) -> None:
    epsilons = np.array([0.25, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0])
    c = np.exp(epsilons)
    axes.plot(epsilons, c / (1 + c) ** 2, label="one bit: $e^\\epsilon/(1+e^\\epsilon)^2$")
    axes.plot(epsilons, [stated(eps) for eps in epsilons.tolist()], "o", label="the number in the theorem")
    axes.set(
        title="Floor of the worst squared error on [0, 1]",
        xlabel="eps",
        ylabel="worst squared error",
        ylim=(0, None),
    )
    axes.legend()
