"""The printed second step of L-GRR is right for two items only.

L-GRR chains randomised response (loss eps_inf) with another one so that the first report has loss eps_1. The chain
has ``p* - q* = (p1 - q1)(p2 - q2)``, so ``p2 - q2`` is the quotient of two gaps ``(e^eps - 1) / (e^eps + k - 1)``.
With the printed p2 the first report of k = 100 items has a loss of 0.166 in place of 1, at 90 times the variance.

Ours is the loss of the package's first report (k = 100, eps_inf = 2, eps_1 = 1); the reference multiplies two 100 x
100 tables and solves for p2; printed is what the published formula gives.

From: Arcolezi et al. 2022, and the IBU paper (utility gain of iterative Bayesian update), section 3.2; erratum 7.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, root

CHAPTER = "Many rounds"
TOLERANCE = near(1e-9)
PRINTED = 0.166
K, FIRST, LIMIT = 100, 1.0, 2.0


def response(p: float, k: int) -> Floats:
    table = np.full((k, k), (1 - p) / (k - 1))
    np.fill_diagonal(table, p)
    return table


def loss_of_chain(p2: float, k: int = K) -> float:
    chain = response(np.exp(LIMIT) / (np.exp(LIMIT) + k - 1), k) @ response(p2, k)
    return float(np.log(chain[0, 0] / chain[1, 0]))


def printed(k: int) -> float:
    a, b = np.exp(LIMIT), np.exp(FIRST)
    return float((a * b - 1) / (-k * b + (k - 1) * a + b + a * b - 1))


def answer() -> tuple[float, float]:
    p2 = root(lambda p: loss_of_chain(p) - FIRST, 0.02, 0.99999)
    return md.frequencies.protocol("l-grr", FIRST, K, limit=LIMIT).privacy_loss(), loss_of_chain(p2)


def picture(axes: Axes) -> None:
    sizes = np.unique(np.geomspace(2, 200, 25).astype(int))
    axes.plot(sizes, [loss_of_chain(printed(int(k)), int(k)) for k in sizes], "o-", label="with the printed p2")
    axes.axhline(FIRST, color="black", linestyle="--", label="asked for")
    axes.set_xscale("log")
    axes.set(title="Loss of L-GRR's first report", xlabel="items, k", ylabel="privacy loss", ylim=(0, 1.1))
    axes.legend()
