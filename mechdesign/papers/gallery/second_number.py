"""Of several numbers ask each person for one up to eps = 1.3424, and from there on for two.

Asked for k of d numbers, rounded to signs, a person reports the pattern of k signs, the own one c times as likely as
any other, ``c = e^eps``. The error is ``(d^2/k) ((c + 2^k - 1) / (c - 1))^2`` at most. One number and two have the
same error at ``c = (3 - sqrt 2) / (sqrt 2 - 1)``, for any d; three are better from 2.694 on, four from 3.800 on.

Ours is the eps from which the certified design for five numbers asks for two; the reference is the closed form.

From: this package (sign patterns).
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-6)


def asked_for(epsilon: float) -> int:
    inputs, privacy = md.cube_of(5), md.Pure(epsilon)
    problem = md.Problem(inputs=inputs, loss=md.Squared(), privacy=privacy, among=md.Unbiased())
    return int(md.solve(problem, method="sign_patterns").report.details["drawn"])


def answer() -> tuple[float, float]:
    low, high = 1.0, 2.0
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (low, middle) if asked_for(middle) > 1 else (middle, high)
    return high, math.log((3 - math.sqrt(2)) / (math.sqrt(2) - 1))


def error(epsilons: np.ndarray, drawn: int) -> np.ndarray:
    c = np.exp(epsilons)
    return np.asarray(((c + 2**drawn - 1) / (c - 1)) ** 2 / drawn)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.8, 5, 200)
    best = np.min([error(epsilons, drawn) for drawn in (1, 2, 3, 4)], axis=0)
    for drawn in (1, 2, 3, 4):
        axes.plot(epsilons, error(epsilons, drawn) / best, label=f"{drawn} of d numbers")
    axes.set(title="Error beside the best number of questions", xlabel="eps", ylabel="ratio", ylim=(0.9, 3))
    axes.legend()
