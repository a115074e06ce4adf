"""Up to eps = ln(3 + 2 sqrt 2) two reports are best for the worst squared error.

Write ``c = e^eps``. No mechanism tells the values 0 and 1 apart better than randomised response, so its worst squared
error is at least ``c / (1 + c)^2``. The reports ``1 / (1 + c)`` and ``c / (1 + c)``, the nearer with probability ``c
/ (1 + c)``, have just that at both ends, and no more between them as long as ``c^2 - 6 c + 1 <= 0``. There, at eps =
ln(3 + 2 sqrt 2) = 1.7627, the optimum is 1/8.

Ours is the certified optimum over all mechanisms just below that eps; the reference is 1/8.

From: this package (mechdesign.methods, two outputs); the bound is the two-point method of Le Cam 1973.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "One number"
TOLERANCE = near(1e-9)
LAST = np.log(3 + 2 * np.sqrt(2))


def problem(epsilon: float) -> md.Problem:
    return md.Problem(inputs=md.Interval(0, 1), loss=md.Squared(), privacy=md.Pure(epsilon))


def answer() -> tuple[float, float]:
    return md.solve(problem(LAST - 1e-12)).certificate.upper, 1 / 8


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.1, 4, 100)
    coarse = [0.5, 1.0, 1.5, LAST - 1e-12, 2.0, 2.5, 3.0, 3.5]
    designs = [md.solve(problem(epsilon), gap=1e-3) for epsilon in coarse]
    axes.plot(epsilons, np.exp(epsilons) / (1 + np.exp(epsilons)) ** 2, label="bound from two values")
    axes.plot(coarse, [design.certificate.upper for design in designs], "o", label="optimum over all mechanisms")
    axes.axvline(LAST, color="grey", linewidth=0.8, label="ln(3 + 2 sqrt 2)")
    axes.set(title="The least worst squared error on [0, 1]", xlabel="eps", ylabel="worst expected squared error")
    axes.legend()
