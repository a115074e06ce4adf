"""The ball in which chapter 7's example keeps its label has radius 0.34, not 0.20.

Example 14 has two normal classes on the unit square. Their scores are equal on a circle around (-1, -1) of radius
``2 sqrt(1 + ln 2)``, and at x = (1/2, 1/2) the first class wins. The ball of the chapter is a square; its corner ``x +
theta`` is the farthest from the centre, so the label is kept up to ``theta = sqrt(2 (1 + ln 2)) - 3/2 = 0.3402``.
Example 11 reads 0.20 off a test at random points, figure 7.2 draws it so, and example 15 has a network of two
rectifiers that stands for the same classifier: its radius is 0.3848.

Ours is the radius that is proven from the bounds of margins over boxes; the reference is the formula; printed is the
radius of examples 11 and 13.

From: Refined mechanism design, examples 11, 13, 14 and 15 (chapter 7); erratum 14.
"""

import math

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.classifiers.margins import MarginRegion, Margins, Quadratics, Rectifiers
from mechdesign.studies.classifiers.models import Classifier, Record
from mechdesign.studies.classifiers.robustness import ProvenTest, radius

CHAPTER = "Classifiers"
TOLERANCE = near(1e-5)
PRINTED = 0.20
X = np.array([0.5, 0.5])
_HALVINGS = 24

# h1 - h2 of example 14: (4 (1 + ln 2) - |y + 1|^2) / 4
NORMAL_CLASSES = Quadratics(np.array([-np.eye(2) / 4]), np.array([[-0.5, -0.5]]), np.array([0.5 + math.log(2)]), 4.0)

_FIRST = np.array([[-1.86, -2.09], [0.12, -0.46]]), np.array([3.71, -0.08])
_SECOND = np.array([[-3.05, 0.40], [4.02, -0.22]]), np.array([0.94, -0.58])


def network() -> Rectifiers:
    """Example 15; the margin is that of the label it gives at x."""
    scores = _SECOND[0] @ np.maximum(_FIRST[0] @ X + _FIRST[1], 0.0) + _SECOND[1]
    sign = 1.0 if scores[0] > scores[1] else -1.0
    weight, bias = (sign * (part[[0]] - part[[1]]) for part in _SECOND)
    return Rectifiers((_FIRST, (weight, bias)))


def proven_radius(margins: Margins) -> float:
    keeps = Classifier(lambda points: margins.bounds(points, points)[0][:, 0] > 0, 2)
    return radius(ProvenTest(MarginRegion(Record(keeps, X), margins)), X, _HALVINGS)


def answer() -> tuple[float, float]:
    return proven_radius(NORMAL_CLASSES), math.sqrt(2 * (1 + math.log(2))) - 1.5


def picture(axes: Axes) -> None:
    side = np.linspace(0, 1, 201)
    points = np.array(np.meshgrid(side, side)).reshape(2, -1).T
    for margins, colour, name in ((NORMAL_CLASSES, "C0", "normal classes"), (network(), "C1", "network")):
        heights = margins.bounds(points, points)[0].reshape(201, 201)
        axes.contour(side, side, heights, levels=[0.0], colors=colour, linestyles="--")
        theta = proven_radius(margins)
        axes.plot(*_square(theta), color=colour, label=f"{name}: {theta:.3f}")
    axes.plot(*_square(PRINTED), color="black", label="printed: 0.20")
    axes.plot(*X, "k.")
    axes.set(title="Balls that keep the label of (0.5, 0.5)", xlabel="first feature", ylabel="second feature")
    axes.set(aspect="equal", xlim=(0, 1), ylim=(0, 1))
    axes.legend(loc="lower left")


def _square(theta: float) -> tuple[list[float], list[float]]:
    low, high = 0.5 - theta, 0.5 + theta
    return [low, high, high, low, low], [low, low, high, high, low]
