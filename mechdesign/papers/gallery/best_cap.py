"""A direction that leans into a cap has the least noise there is for vectors of length 1.

Let u be a coordinate of a uniform direction of R^d and ``H = max_t (c-1) E[u; u > t] / ((c-1) P(u > t) + 1)``, ``c =
e^eps``. Every unbiased report of vectors on the sphere has at some of them an error ``E|Y - x|^2`` of at least ``1/H^2
- 1``. A direction from the cap of height t around one's own, c times as often as any other, attains it: PrivUnit with
its cap at the best height. For d = 1024 and eps = 4 the error is 0.4346 a coordinate.

Ours is the certified error a coordinate; the reference integrates over the angle of the report and tries heights.

From: this package; the mechanism: Bhowmick, Duchi, Freudiger, Kapoor and Rogers 2018.
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-6)
EPSILON, COORDINATES = 4.0, 1024
STEPS = 400_000


def least(epsilon: float, count: int) -> float:
    problem = md.Problem(inputs=md.Sphere(count), loss=md.Squared(), privacy=md.Pure(epsilon), among=md.Unbiased())
    return md.solve(problem).certificate.lower / count


def by_angles(epsilon: float, count: int) -> float:
    angles = (np.arange(STEPS) + 0.5) * math.pi / STEPS
    mass = np.exp((count - 2) * np.log(np.sin(angles)))
    mass /= mass.sum()
    share, lean = mass.cumsum(), (mass * np.cos(angles)).cumsum()
    gain = math.expm1(epsilon)
    return float(((gain * lean / (gain * share + 1)).max() ** -2 - 1) / count)


def answer() -> tuple[float, float]:
    return least(EPSILON, COORDINATES), by_angles(EPSILON, COORDINATES)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 8, 31)
    for count, style in ((10, "-"), (100, "--"), (1024, ":")):
        axes.plot(epsilons, [least(epsilon, count) for epsilon in epsilons], style, label=f"{count} coordinates")
    title = "The least error of a vector of length 1"
    axes.set(title=title, xlabel="eps", ylabel="E|Y - x|^2 a coordinate", yscale="log")
    axes.legend()
