"""How to split eps between a distance and an angle.

A point in polar coordinates spends ``eps_1`` on its distance (in [0, 1]) and ``eps_2`` on its angle, ``eps_1 + eps_2
= 1 + 2 pi``. For the sum of both worst squared errors the printed split, 1.32 and 5.69, does not add up: with the
printed heights the best is 1.299 and 5.985, with the corrected ones 1.530 and 5.753.

Ours is the package's epsilon for the distance; the reference minimises the sum of two formulas, each at its own best
base density; printed is the example's split.

From: Refined mechanism design, section C.2.6 (example of chapter 5); erratum 4.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import least

CHAPTER = "Directions and places"
TOLERANCE = near(1e-5)
PRINTED = 1.32
TOTAL = 1 + 2 * np.pi


def error_of(epsilon: float, length: float) -> float:
    """The least squared error of a window from the value on, over a stretch of this length."""
    ratio = np.expm1(epsilon)

    def error(width: float) -> float:
        return float((length**3 + ratio * width**3) / (3 * (length + ratio * width)))

    return least(error, 0, length)[1]


def total(first: float) -> float:
    # on the circle both sides of the value are alike: half of it is a line of length pi
    return error_of(first, 1.0) + error_of(TOTAL - first, np.pi)


def answer() -> tuple[float, float]:
    inputs = md.Product((md.Interval(0, 1), md.Circle()))
    problem = md.Problem(inputs=inputs, loss=md.Squared(), privacy=md.Pure(TOTAL), among=md.Piecewise())
    details = md.solve(problem).report.details
    return float(details["epsilon_distance"]), least(total, 0.1, 5)[0]


def picture(axes: Axes) -> None:
    splits = np.linspace(0.3, 5, 120)
    axes.plot(splits, [total(split) for split in splits], label="sum of both")
    axes.plot(splits, [error_of(split, 1.0) for split in splits], "--", label="distance")
    axes.plot(splits, [error_of(TOTAL - split, np.pi) for split in splits], ":", label="angle (rad^2)")
    axes.axvline(PRINTED, color="grey", linewidth=0.8, label="printed split")
    axes.set(
        title="Splitting eps = 1 + 2 pi", xlabel="eps for the distance", ylabel="worst squared error", ylim=(0, 0.8)
    )
    axes.legend()
