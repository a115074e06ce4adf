"""The square wave mechanism is as wide as its report tells most.

A value in [0, 1] becomes a report in [-b, 1 + b], ``e^eps`` times as dense within b of the value as elsewhere. What a
report tells of its value is at most its entropy, that of a uniform report, less the entropy of the noise. This bound
is largest at ``b = (eps e^eps - e^eps + 1) / (2 e^eps (e^eps - 1 - eps))``, which is the b of the mechanism.

Ours is half the width of the package's window at eps = 1; the reference maximises the bound numerically.

From: Li, Wang, Lopuhaa-Zwakenberg, Li and Skoric 2020 (choice of b).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import least

CHAPTER = "Distributions"
TOLERANCE = near(1e-6)
EPSILON = 1.0


def information(b: float, epsilon: float = EPSILON) -> float:
    """An upper bound of the mutual information, in nats: the report's entropy is at most that of a uniform one."""
    ratio = np.exp(epsilon)
    low = 1 / (2 * b * ratio + 1)
    return float(np.log(2 * b + 1) + 2 * b * ratio * low * np.log(ratio * low) + low * np.log(low))


def answer() -> tuple[float, float]:
    return md.catalogue.sw(EPSILON).width / 2, least(lambda b: -information(b), 0.01, 1)[0]


def picture(axes: Axes) -> None:
    b = np.linspace(0.02, 0.5, 300)
    for epsilon, style in ((0.5, "-"), (1.0, "--"), (2.0, ":")):
        line = axes.plot(b, [information(half, epsilon) for half in b], style, label=f"eps = {epsilon:g}")[0]
        half = md.catalogue.sw(epsilon).width / 2
        axes.plot(half, information(half, epsilon), "o", color=line.get_color())
    axes.set(
        title="How wide is the square wave? (dots: SW)", xlabel="half width b", ylabel="bound on information (nats)"
    )
    axes.legend()
