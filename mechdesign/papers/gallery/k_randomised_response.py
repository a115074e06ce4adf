"""At large eps nothing tells more about a category than k-ary randomised response.

Among all eps-LDP mechanisms on k categories, k-RR has the largest mutual information between a uniform category and
its report once eps is large enough; at small eps a binary split is better. An optimal mechanism is a mixture of at
most k columns whose entries are all 1 or ``e^eps``, so a linear program over the ``2^k`` such columns finds the
optimum: maximise ``sum_S w_S f(S)`` subject to ``sum_S w_S S_x = 1`` for every x.

Ours is the information (in nats) of k-RR at k = 4, eps = 4; the reference is the optimum of that program.

From: Kairouz, Oh and Viswanath 2014 (staircase mechanisms; binary and k-ary randomised response).
"""

import itertools

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, program

CHAPTER = "Categories"
TOLERANCE = near(1e-9)
K, EPSILON = 4, 4.0


def gains(columns: Floats) -> Floats:
    """What a report with these chances given each category adds to the mutual information."""
    return np.asarray((columns * np.log(columns / columns.mean(axis=0))).mean(axis=0))


def of_randomised_response(epsilon: float) -> float:
    law = md.catalogue.randomised_response(epsilon, md.Finite(tuple(range(K))))
    return float(gains(law.probabilities).sum())


def of_anything(epsilon: float) -> float:
    columns = np.array(list(itertools.product((1.0, np.exp(epsilon)), repeat=K))).T
    return -program(-gains(columns), columns, np.ones(K))[0]


def answer() -> tuple[float, float]:
    return of_randomised_response(EPSILON), of_anything(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.1, 6, 60)
    best = np.array([of_anything(epsilon) for epsilon in epsilons])
    split = [of_pair / best[k] for k, of_pair in enumerate(map(of_binary_split, epsilons))]
    axes.plot(epsilons, [of_randomised_response(e) for e in epsilons] / best, label="randomised response on 4 values")
    axes.plot(epsilons, split, "--", label="randomised response on 2 halves")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set(title="Information told, as a share of the most possible", xlabel="eps", ylabel="share", ylim=(0, 1.05))
    axes.legend()


def of_binary_split(epsilon: float) -> float:
    halves = np.repeat([[np.exp(epsilon), 1.0], [1.0, np.exp(epsilon)]], K // 2, axis=0) / (1 + np.exp(epsilon))
    return float(gains(halves).sum())
