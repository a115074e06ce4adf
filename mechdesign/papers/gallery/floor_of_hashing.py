"""Rounding g = e^eps + 1 down can cost local hashing an eighth in variance.

The best real g is ``e^eps + 1``; g must be whole. The IBU paper takes ``floor(e^eps + 1)``. The variance of a rare
item is ``(e^eps + g - 1)^2 / ((g - 1) (e^eps - 1)^2)``, so one can simply try. Just below eps = ln 2 the floor is 2,
with variance ``9 / (e^eps - 1)^2``, and 3 hash values have ``8 / (e^eps - 1)^2``.

Ours is the variance with the floor over that with the package's own g, at eps = ln 2 - 10^-12; the reference is 9/8.

From: Wang, Blocki, Li and Jha 2017 (g = e^eps + 1); the IBU paper, section 3.1 (its floor); erratum 9.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
EPSILON = np.log(2) - 1e-12


def loss_of_floor(epsilon: float) -> float:
    def variance(**options: int) -> float:
        return float(md.frequencies.protocol("olh", epsilon, 10_000, **options).variance(0.0, 1))

    return variance(g=int(np.exp(epsilon) + 1)) / variance()


def answer() -> tuple[float, float]:
    return loss_of_floor(EPSILON), 9 / 8


def picture(axes: Axes) -> None:
    fine = np.sort(np.append(np.linspace(0.2, 3, 1000), EPSILON))
    axes.plot(fine, [100 * (loss_of_floor(epsilon) - 1) for epsilon in fine])
    axes.set(title="What floor(e^eps + 1) hash values cost", xlabel="eps", ylabel="variance above the best g, in %")
