"""Randomised response beats unary encoding for fewer than 3 e^eps + 2 items.

The variance of a rare item's frequency is ``(e^eps + k - 2) / (e^eps - 1)^2`` with randomised response (GRR) and ``4
e^eps / (e^eps - 1)^2`` with optimised unary encoding (OUE), per user. They are equal at ``k = 3 e^eps + 2``.

Ours is the eps at which the package's two variances cross for k = 32; the reference is ``ln((k - 2) / 3)``.

From: Wang, Blocki, Li and Jha 2017 (their rule for choosing a protocol).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import root

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
K = 32


def variance(name: str, epsilon: float) -> float:
    return float(md.frequencies.protocol(name, epsilon, K).variance(0.0, 1))


def answer() -> tuple[float, float]:
    crossing = root(lambda epsilon: variance("grr", epsilon) - variance("oue", epsilon), 0.5, 5)
    return crossing, float(np.log((K - 2) / 3))


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 4, 60)
    for name, style in (("grr", "-"), ("oue", "--")):
        axes.plot(epsilons, [variance(name, epsilon) for epsilon in epsilons], style, label=name.upper())
    axes.axvline(np.log((K - 2) / 3), color="grey", linewidth=0.8)
    axes.set_yscale("log")
    axes.set(title="A rare item among 32", xlabel="eps", ylabel="variance of its frequency, times users")
    axes.legend()
