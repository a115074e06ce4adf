"""The geometric mechanism is universally optimal for counts.

A count in {0, ..., n} is published so that *neighbouring* counts stay within ``e^eps``: privacy of a trusted curator,
where one person changes a count by one. Whatever prior a user has, and whatever loss that grows with the distance,
she loses nothing if the count comes with two-sided geometric noise, ``P(Z = z)`` proportional to ``e^(-eps |z|)``,
and she remaps what she sees.

Ours is the least average absolute error after the noise and the best remapping (n = 8, eps = 0.5, a slanted prior);
the reference is a linear program over all mechanisms that are private between neighbours.

From: Ghosh, Roughgarden and Sundararajan 2009 (universal optimality of the geometric mechanism).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, program, sums

CHAPTER = "One number"
TOLERANCE = near(1e-8)
N, EPSILON = 8, 0.5
COUNTS = np.arange(N + 1)
LOSS = np.abs(COUNTS[:, None] - COUNTS[None, :])
PRIOR = (N + 1.0 - COUNTS) / (N + 1.0 - COUNTS).sum()


def noisy() -> Floats:
    """A row a count, a column a report; reports below 0 and above n are told as 0 and n."""
    # the package's epsilon is between the two ends, n neighbours apart
    law = md.catalogue.two_sided_geometric(N * EPSILON, md.Finite(tuple(map(float, COUNTS))))
    below = law.cdf(COUNTS[None, :-1].astype(float), COUNTS[:, None].astype(float))
    return np.diff(np.column_stack([np.zeros(N + 1), below, np.ones(N + 1)]), axis=1)


def answer() -> tuple[float, float]:
    remapped = ((PRIOR[:, None] * noisy()).T @ LOSS).min(axis=1).sum()
    size = (N + 1) ** 2
    rows = np.zeros((2 * N * (N + 1), size))
    for row, (i, j, step) in enumerate((i, j, s) for i in range(N) for j in range(N + 1) for s in (0, 1)):
        rows[row, (i + step) * (N + 1) + j] = 1
        rows[row, (i + 1 - step) * (N + 1) + j] = -np.exp(EPSILON)
    cost = (PRIOR[:, None] * LOSS).ravel()
    return float(remapped), program(cost, sums(N + 1, np.ones(N + 1)), np.ones(N + 1), rows)[0]


def picture(axes: Axes) -> None:
    law = noisy()
    for count, style in ((0, "o-"), (3, "s--"), (8, "^:")):
        axes.plot(COUNTS, law[count], style, label=f"true count {count}")
    axes.set(title="Counts with geometric noise, eps = 0.5 between neighbours", xlabel="report", ylabel="probability")
    axes.legend()
