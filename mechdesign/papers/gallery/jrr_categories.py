"""For k categories JRR's correlation is rho / (k - 1).

Section 4.5 lets two users tell the truth together with probability ``p^2 + rho p q``, where ``q = (1 - p) / (k - 1)``
is the chance of each *other category*. The chance of a lie is ``(k - 1) q``, so the correlation of the truths is
``(P(both) - p^2) / (p (1 - p)) = rho / (k - 1)``.

Ours is the package's correlation at k = 5, p = 1/2, rho = -0.2; the reference is computed from the four chances of
truth and lie; printed is rho.

From: Refined mechanism design, section 4.5; erratum 6.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.mechanisms.joint import JointResponse
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-12)
PRINTED = -0.2
P, RHO, K = 0.5, -0.2, 5


def of_table(rho: float, categories: int) -> float:
    both = P**2 + rho * P * (1 - P) / (categories - 1)
    chances = np.array([[1 - 2 * P + both, P - both], [P - both, both]])  # lie or truth, of both users
    truth = np.array([0.0, 1.0])
    mean = chances.sum(axis=0) @ truth
    return float((truth @ chances @ truth - mean**2) / (mean * (1 - mean)))


def answer() -> tuple[float, float]:
    return float(JointResponse.pair(P, RHO, K).correlation), of_table(RHO, K)


def picture(axes: Axes) -> None:
    sizes = np.arange(2, 13)
    axes.plot(sizes, [of_table(RHO, int(k)) for k in sizes], "o-", label="correlation of the truths")
    axes.axhline(RHO, color="black", linestyle="--", label="rho, as printed")
    axes.set(title="JRR for k categories, rho = -0.2", xlabel="categories, k", ylabel="correlation")
    axes.legend()
