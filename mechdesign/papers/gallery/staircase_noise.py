"""Staircase noise is the best noise to add to a number, and beats Laplace noise.

Noise Z with a density that is a staircase of steps ``e^-eps``, each as wide as the domain and cut at the share ``1 /
(1 + e^(eps/2))``, has the least ``E|Z|`` of all noise that is added whatever the value: ``e^(eps/2) / (e^eps - 1)``
domain lengths. Laplace noise has ``1 / eps``.

Ours is the expected error of the package's mechanism on [0, 1] at eps = 4; the reference is the formula.

From: Geng and Viswanath 2014.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "One number"
TOLERANCE = near(1e-9)
EPSILON = 4.0


def answer() -> tuple[float, float]:
    found = md.catalogue.staircase(EPSILON).worst_case(md.Absolute())[0]
    return float(found), float(np.exp(EPSILON / 2) / np.expm1(EPSILON))


def picture(axes: Axes) -> None:
    outputs = np.linspace(-1.5, 1.5, 3001)
    for mechanism, style in ((md.catalogue.staircase(EPSILON), "-"), (md.catalogue.laplace(EPSILON), "--")):
        axes.plot(outputs, mechanism.density(outputs, np.array(0.0)), style, label=mechanism.name)
    axes.set(title="Noise added to 0 at eps = 4", xlabel="report y", ylabel="density (logarithmic)", yscale="log")
    axes.legend()
