"""The squared error on the circle needs other heights than theorem 8's, too.

With half width w around the value, central density ``p = b e^eps`` and base b, the error is ``2 (p w^3 + b (pi^3 -
w^3)) / 3``. Its least value at eps = 4 is 0.401 square radians; theorem 8's ``p = e^(eps/2) / (2 pi)`` has 0.486.

Ours is the certified optimum over all mechanisms; the reference minimises the formula over w; printed is theorem 9's
value.

From: Refined mechanism design, theorems 8 and 9 (chapter 5); erratum 1.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import least

CHAPTER = "Directions and places"
TOLERANCE = near(1e-9)
PRINTED = 0.48566
EPSILON = 4.0


def error(half: float) -> float:
    base = 1 / (2 * np.pi + 2 * half * np.expm1(EPSILON))
    return float(2 * base * (np.pi**3 + np.expm1(EPSILON) * half**3) / 3)


def answer() -> tuple[float, float]:
    problem = md.Problem(inputs=md.Circle(), loss=md.Squared(), privacy=md.Pure(EPSILON))
    return md.solve(problem).certificate.upper, least(error, 0, np.pi)[1]


def picture(axes: Axes) -> None:
    halves = np.linspace(0.1, 1.2, 300)
    printed = md.catalogue.ogpm_circle(EPSILON).width / 2
    best = md.catalogue.ogpm_circle_squared(EPSILON).width / 2
    axes.plot(halves, [*map(error, halves)])
    axes.plot(printed, error(printed), "s", label="theorem 8")
    axes.plot(best, error(best), "o", label="optimum over all mechanisms")
    title = "Squared error on the circle, eps = 4"
    axes.set(title=title, xlabel="half width of the window (radians)", ylabel="expected squared error (rad^2)")
    axes.legend()
