"""The noisy sign of a normal observation tells most of its mean, up to eps = 2.01.

A report with row q has information ``(q.p')^2 / (q.p)`` about the mean. The sign, told wrong with chance
``1 / (1 + e^eps)``, has ``(2 / pi) tanh(eps / 2)^2``; beyond eps = 2.0138 (40 cells) other rows tell more.

Ours is the proven upper end of the information over all mechanisms of 40 cells (eps = 1); the reference is the formula.

From: Kalinin and Steinberger 2024; where the sign stops being best is found by this package.
"""

import math

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-6)


def most(epsilon: float) -> float:
    model = md.models.GaussianLocation(40)
    found = md.solve(md.Problem(loss=model, privacy=md.Pure(epsilon), criterion=md.Average()))
    return 1 / found.certificate.lower


def answer() -> tuple[float, float]:
    return most(1.0), 2 / math.pi * math.tanh(0.5) ** 2


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.25, 4, 16)
    axes.plot(epsilons, [most(float(epsilon)) for epsilon in epsilons], "o-", label="all mechanisms, proven")
    axes.plot(epsilons, 2 / math.pi * np.tanh(epsilons / 2) ** 2, "--", label="noisy sign")
    axes.set(title="Information about a normal mean", xlabel="eps", ylabel="information in a report")
    axes.legend()
