"""On the circle OGPM is optimal among all mechanisms.

Rotate any mechanism by a random angle and turn its report back: its worst error does not grow, it stays private, and
every value then has the same law. So for the distance round a circle of length ``2 pi`` the optimum is the best law
around one value, ``pi / (1 + e^(eps/2))``.

Ours is the lower end of the package's certificate, which holds for all mechanisms, at eps = 2; the reference is the
formula.

From: Refined mechanism design, theorem 8 (chapter 5), there among piecewise mechanisms; erratum 3.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Directions and places"
TOLERANCE = near(1e-9)
EPSILON = 2.0


def answer() -> tuple[float, float]:
    problem = md.Problem(inputs=md.Circle(), loss=md.Absolute(), privacy=md.Pure(EPSILON))
    return md.solve(problem).certificate.lower, np.pi / (1 + np.exp(EPSILON / 2))


def picture(axes: Axes) -> None:
    outputs = np.linspace(0, 2 * np.pi, 2001)[:-1]
    for x, style in ((0.5, "-"), (3.0, "--")):
        axes.plot(outputs, md.catalogue.ogpm_circle(EPSILON).density(outputs, np.array(x)), style, label=f"value {x:g}")
    axes.set(title="OGPM on the circle, eps = 2", xlabel="reported angle (radians)", ylabel="density per radian")
    axes.set_ylim(bottom=0)
    axes.legend()
