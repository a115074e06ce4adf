"""Rounding g = e^eps + 1 down costs local hashing up to 12% in variance.

The best real g is ``e^eps + 1``; g must be whole. Published code takes ``floor(e^eps + 1)``. The variance of a rare
item is ``(e^eps + g - 1)^2 / ((g - 1) (e^eps - 1)^2)``, so one can simply try: where ``e^eps + 1`` is just below 3,
three hash values have much less variance than two.

Ours is the largest ratio the package finds over eps in [0.2, 3], floor against its own choice; the reference is the
same ratio by the formula, at all whole g.

From: Wang, Blocki, Li and Jha 2017 (``g = e^eps + 1``); the IBU paper, section 3.1 (its floor); erratum 9.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.gallery.agreement import near

TOLERANCE = near(1e-9)
EPSILONS = np.linspace(0.2, 3, 141)


def loss_of_floor(epsilon: float) -> float:
    def variance(**options: int) -> float:
        return float(md.collect.protocol("olh", epsilon, 10_000, **options).variance(0.0, 1))

    return variance(g=int(np.exp(epsilon) + 1)) / variance()


def by_formula(epsilon: float) -> float:
    ratio, sizes = np.exp(epsilon), np.arange(2, 60)
    variances = (ratio + sizes - 1) ** 2 / (sizes - 1)
    return float(variances[int(ratio + 1) - 2] / variances.min())


def answer() -> tuple[float, float]:
    return max(map(loss_of_floor, EPSILONS)), max(map(by_formula, EPSILONS))


def picture(axes: Axes) -> None:
    fine = np.linspace(0.2, 3, 1000)
    axes.plot(fine, [100 * (by_formula(epsilon) - 1) for epsilon in fine])
    axes.set(title="What floor(e^eps + 1) hash values cost", xlabel="eps", ylabel="variance above the best g, in %")
