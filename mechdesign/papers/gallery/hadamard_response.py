"""Hadamard response: one sign of a Hadamard matrix, and the variance is that of a coin.

Items are rows of a Hadamard matrix; a user reports a column in which her row is +1 with probability ``e^eps / (e^eps
+ 1)``, one in which it is -1 otherwise. Rows are orthogonal, so another item is supported half of the time, and the
variance of a rare item is ``((e^eps + 1) / (e^eps - 1))^2``.

Ours is the package's variance at eps = 1 with 7 items, averaged over frequencies of 1/7; the reference multiplies out
the 8 x 8 matrix.

From: Acharya, Sun and Zhang 2019 (the case of high privacy, one block).
"""

import numpy as np
from matplotlib.axes import Axes
from scipy.linalg import hadamard

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
K, EPSILON = 7, 1.0


def channel() -> Floats:
    rows = np.asarray(hadamard(K + 1)[1:], dtype=float)  # the first row is all ones and tells nothing
    return np.asarray(np.where(rows > 0, np.exp(EPSILON), 1.0) * 2 / (np.exp(EPSILON) + 1) / (K + 1))


def by_enumeration() -> float:
    law, plus = channel(), hadamard(K + 1)[1:] > 0
    p, q = np.exp(EPSILON) / (np.exp(EPSILON) + 1), 0.5
    estimates = (plus.T - q) / (p - q)
    return float((law @ estimates**2 - (law @ estimates) ** 2).mean())


def answer() -> tuple[float, float]:
    return float(md.frequencies.protocol("hr", EPSILON, K, blocks=1).variance(1 / K, 1)), by_enumeration()


def picture(axes: Axes) -> None:
    image = axes.imshow(channel(), cmap="cividis", vmin=0)
    axes.figure.colorbar(image, ax=axes, label="probability of the report")
    axes.set(title="Hadamard response on 7 items, eps = 1", xlabel="report (column)", ylabel="item (row)")
