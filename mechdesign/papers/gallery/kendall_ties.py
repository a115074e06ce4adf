"""A Kendall coefficient must not depend on the order of the list.

Optimus calls items u before v concordant if ``f_u > f_v and g_u > g_v``, or ``f_u <= f_v and g_u <= g_v``. Over all
of V x V a tie cancels; taken once for each pair it counts as concordant in one order of the items and as discordant
in the other. tau-b, ``(C - D) / sqrt((P - T_f)(P - T_g))``, leaves ties out and is the same for all orders.

Ours is the package's coefficient of four items of which three are truly tied, listed backwards; the reference counts
pairs for the original list. The rule that takes each pair once says 1 for that list, and 0 for it backwards.

From: Optimus (budget selection), section 3.3; Kendall 1945 (tau-b); erratum 11.
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

from mechdesign.papers.gallery.agreement import near
from mechdesign.studies.frequencies import metrics

CHAPTER = "Counting many reports"
TOLERANCE = near(1e-12)
TRUE, SEEN = np.array([0.4, 0.2, 0.2, 0.2]), np.array([0.4, 0.1, 0.2, 0.3])


def answer() -> tuple[float, float]:
    signs = [
        (np.sign(TRUE[u] - TRUE[v]), np.sign(SEEN[u] - SEEN[v])) for u, v in itertools.combinations(range(TRUE.size), 2)
    ]
    a, b = np.array(signs).T
    return metrics.kendall(TRUE[::-1], SEEN[::-1]), float(a @ b / np.sqrt((a @ a) * (b @ b)))


def picture(axes: Axes) -> None:
    orders = list(itertools.permutations(range(TRUE.size)))
    shown = sorted(orders, key=lambda order: metrics.kendall_optimus(TRUE[[*order]], SEEN[[*order]]))
    once = [metrics.kendall_optimus(TRUE[[*order]], SEEN[[*order]]) for order in shown]
    axes.plot(once, "o", label="each pair once")
    axes.plot([metrics.kendall(TRUE[[*order]], SEEN[[*order]]) for order in shown], "s", label="tau-b", markersize=4)
    title = "One data set, its four items listed in all orders"
    axes.set(title=title, xlabel="order of the list (24 of them)", ylabel="Kendall coefficient")
    axes.legend()
