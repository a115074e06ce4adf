"""Local hashing does as well as unary encoding, with reports of a few bytes.

A user draws a hash function into g values and sends the hash of her item through randomised response. A report
supports the items with its hash: ``p = e^eps / (e^eps + g - 1)``, ``q = 1/g``. With ``g = e^eps + 1`` a rare item's
variance is ``4 e^eps / (e^eps - 1)^2``, that of optimised unary encoding.

Ours is the package's variance at eps = ln 3, where g = 4 is whole; the reference enumerates all hash functions of two
items.

From: Wang, Blocki, Li and Jha 2017 (optimised local hashing).
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-9)
EPSILON = np.log(3)


def by_enumeration(g: int) -> float:
    """The variance that one user of item 0 adds to the estimate of item 1."""
    ratio = np.exp(EPSILON)
    chances, supports = [], []
    for own, other, told in itertools.product(range(g), repeat=3):
        chances.append((ratio if told == own else 1.0) / (ratio + g - 1) / g**2)
        supports.append(told == other)
    p, q = ratio / (ratio + g - 1), 1 / g
    estimates = (np.array(supports, dtype=float) - q) / (p - q)
    return float(np.dot(chances, estimates**2) - np.dot(chances, estimates) ** 2)


def answer() -> tuple[float, float]:
    return float(md.frequencies.protocol("olh", EPSILON, 100, g=4).variance(0.0, 1)), by_enumeration(4)


def picture(axes: Axes) -> None:
    sizes = np.arange(2, 13)
    axes.plot(sizes, [by_enumeration(int(g)) for g in sizes], "o-", label="local hashing")
    axes.axhline(4 * 3 / (3 - 1) ** 2, color="black", linestyle="--", label="unary encoding (OUE)")
    axes.set(title="How many hash values at eps = ln 3?", xlabel="hash values, g", ylabel="variance, times users")
    axes.legend()
