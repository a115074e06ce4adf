"""For tables of two of four yes/no questions only two numbers of a row matter.

Bits may be turned round and exchanged, so the best M has one eigenvalue for all sets S of so many bits:
``m_s = sum_z v_z a_s(z)``, ``sum v = 1``, with ``a_s(z)`` the mean of ``(chi_S . z)^2 / (16 mean(z)^2)`` over sets of s
bits, ``chi_S = (-1)^(sum of the bits of S)``. Tables of two have weight on s = 0, 1, 2 only and m_0 = 16, so the noise
is ``l_0/16 + 4 l_1/m_1 + 6 l_2/m_2 - 6`` with the eigenvalues ``l = 24, 12, 4`` of W'W, and (m_1, m_2) is anywhere in
the convex hull of all 2^16 rows.

Ours is the proven lower end of the optimum over all mechanisms (eps = 1); the reference is the least noise in the hull.

From: this package.
"""

import math
from itertools import combinations, pairwise

import numpy as np
from matplotlib.axes import Axes
from scipy.spatial import ConvexHull

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, least
from mechdesign.words.workloads import Marginals, Workload

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-4)
BITS, EPSILON = 4, 1.0
TYPES = 1 << BITS


def rows() -> Floats:
    """(a_1, a_2) of every row with entries 1 and c."""
    bits = np.arange(1 << TYPES)[:, None] >> np.arange(TYPES) & 1
    z = 1 + (math.exp(EPSILON) - 1) * bits
    means = z.mean(axis=1)
    types = np.arange(TYPES)
    signs = [1 - 2 * (types >> b & 1) for b in range(BITS)]
    ones = [(z @ sign) ** 2 for sign in signs]
    twos = [(z @ (one * two)) ** 2 for one, two in combinations(signs, 2)]
    both = np.column_stack([np.mean(ones, axis=0), np.mean(twos, axis=0)])
    return np.asarray(both / (TYPES * means[:, None] ** 2))


def noise(m: Floats) -> float:
    return float(24 / TYPES + 4 * 12 / m[0] + 6 * 4 / m[1] - 6)


def _on_edge(one: Floats, other: Floats) -> tuple[float, Floats]:
    share, here = least(lambda t: noise((1 - t) * one + t * other), 1e-9, 1 - 1e-9)
    return here, (1 - share) * one + share * other


def best(of: Floats) -> tuple[float, Floats]:
    """The least noise on the edges of the hull, and where."""
    corners = of[ConvexHull(of).vertices]
    found = [_on_edge(*ends) for ends in pairwise([*corners, corners[0]]) if np.max(ends, axis=0).min() > 0]
    return min(found, key=lambda edge: edge[0])


def answer() -> tuple[float, float]:
    problem = md.Problem(loss=Workload(Marginals((2,) * BITS, 2)), privacy=md.Pure(EPSILON), criterion=md.Average())
    found = md.solve(problem, gap=1e-4).certificate
    return found.lower, best(np.unique(rows(), axis=0))[0]


def picture(axes: Axes) -> None:
    of = np.unique(rows().round(12), axis=0)
    value, place = best(of)
    corners = of[[*(turn := ConvexHull(of).vertices), turn[0]]]
    axes.plot(of[:, 0], of[:, 1], ".", markersize=3, alpha=0.5, label="rows")
    axes.plot(corners[:, 0], corners[:, 1], "-", label="their hull")
    m = np.linspace(24 * 2 / (value + 6 - 1.5) * 1.02, of[:, 0].max(), 400)
    rest = value + 6 - 24 / TYPES - 48 / m
    axes.plot(m[rest > 0], 24 / rest[rest > 0], "--", label=f"noise {value:.2f}")
    axes.plot(*place, "k*", markersize=12, label="optimum")
    axes.set(title="Tables of two of four bits, eps = 1", xlabel="m1: single bits", ylabel="m2: pairs of bits")
    axes.set(xlim=(0, 1.1 * of[:, 0].max()), ylim=(0, 1.1 * of[:, 1].max()))
    axes.legend()
