"""Sending the value with probability delta can betray it more often than that.

Theorem 17: with probability delta report x itself, else a report of a pure mechanism, is (eps, delta)-PAC-LDP. Only a
report that equals x betrays; but k-ary randomised response says x of its own with probability ``s = e^eps / (e^eps +
k - 1)``. Then the guarantee fails with ``delta + (1 - delta) s``: 0.163 for 100 values at eps = 2, delta = 0.1.

Ours is the package's delta; the reference enumerates the reports that lose more than eps; printed is delta.

From: Refined mechanism design, theorem 17 (chapter 7); erratum 14.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.classifiers.concentration import perturbation
from mechdesign.studies.classifiers.pac import indicator_delta

CHAPTER = "Classifiers"
TOLERANCE = near(1e-9)
PRINTED = 0.1
EPSILON, DELTA, K = 2.0, 0.1, 100


def by_enumeration(epsilon: float) -> float:
    """The chance of a report whose likelihood ratio to some other value is above ``e^eps``."""
    table = (np.ones((K, K)) + np.expm1(epsilon) * np.eye(K)) / (np.exp(epsilon) + K - 1)
    mixed = DELTA * np.eye(K) + (1 - DELTA) * table
    lost = mixed[0] > np.exp(epsilon) * (1 + 1e-9) * mixed.min(axis=0)
    return float(mixed[0][lost].sum())


def answer() -> tuple[float, float]:
    return indicator_delta(DELTA, perturbation("k-rr", EPSILON).self_mass), by_enumeration(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.1, 8, 60)
    axes.plot(epsilons, [by_enumeration(epsilon) for epsilon in epsilons], label="before k-RR on 100 values")
    axes.axhline(DELTA, color="black", linestyle="--", label="before a mechanism without atoms, as printed")
    axes.set(title="How often the indicator of delta = 0.1 fails", xlabel="eps", ylabel="probability", ylim=(0, 1))
    axes.legend()
