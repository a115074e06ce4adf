"""To keep a label with probability 0.8 Laplace noise needs eps = 5.365.

From ``1 - e^(-eps theta) = 0.8`` follows ``eps = ln 5 / theta``, 5.365 at theta = 0.3; the chapter reads 5.2 off its
curve.

Ours is the package's search for the smallest eps; the reference is the formula; printed is the chapter's number.

From: Refined mechanism design, section 7.2.1 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.classifiers.choice import smallest_epsilon
from mechdesign.studies.classifiers.concentration import concentration, perturbation

CHAPTER = "Classifiers"
TOLERANCE = near(1e-5)
PRINTED = 5.2
THETA, TARGET = 0.3, 0.8


def kept(name: str, epsilon: float) -> float:
    return concentration(perturbation(name, epsilon), [0.5], [0.5 - THETA], [0.5 + THETA])


def answer() -> tuple[float, float]:
    return smallest_epsilon(lambda epsilon: kept("laplace", epsilon), TARGET).epsilon, float(np.log(5) / THETA)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.2, 8, 60)
    for name, label, style in (("laplace", "Laplace", "-"), ("pm", "OGPM", "--"), ("k-rr", "k-RR, 100 values", ":")):
        axes.plot(epsilons, [kept(name, epsilon) for epsilon in epsilons], style, label=label)
    axes.axhline(TARGET, color="grey", linewidth=0.8)
    axes.set(title="Chance to stay within 0.3 of the value 0.5", xlabel="eps", ylabel="probability", ylim=(0, 1.02))
    axes.legend()
