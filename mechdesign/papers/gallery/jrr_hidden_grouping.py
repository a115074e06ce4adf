"""Who does not know the pairs learns little: JRR's epsilon with its grouping hidden.

Two of a random pair never both lie (``p = e^eps / (e^eps + 1)``, rho = 1 - 1/p). If the pairing is known, a partner who
lied gives the other's answer away: the loss is infinite. If nobody knows it, only the number of liars among those who
collude matters: the truths of all users are exchangeable.

Ours is the exact epsilon at delta = 1e-6 for 10^4 users of whom all but one collude; the reference is that of scipy's
binomial law: with K liars in all, ``P(you lie, L others do) = P(K = L+1) (L+1)/n``.

From: Refined mechanism design, section 4.3 (the protocol); the account is this package's (`mechdesign.exact.hidden`).
"""

from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes
from scipy import optimize, stats

from mechdesign.exact.hidden import hidden_loss
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-6)
USERS, EPSILON, DELTA = 10_000, 1.0, 1e-6


def law() -> JointResponse:
    lies = 1 / (1 + exp_lower(EPSILON))
    return JointResponse((Fraction(0), 2 * lies, 1 - 2 * lies))


def reference() -> float:
    liars = np.arange(USERS + 1)
    chances = stats.binom.pmf(liars, USERS // 2, 2 / (1 + np.exp(EPSILON)))
    true = chances[:-1] * (USERS - liars[:-1]) / USERS
    false = chances[1:] * liars[1:] / USERS

    def excess(epsilon: float) -> float:
        ratio = np.exp(epsilon)
        return float(np.maximum(true - ratio * false, 0).sum() + np.maximum(false - ratio * true, 0).sum())

    return float(optimize.brentq(lambda epsilon: excess(epsilon) / DELTA - 1, 0.5, 3.0, xtol=1e-12))


def answer() -> tuple[float, float]:
    return hidden_loss(law(), USERS, USERS - 1, DELTA).upper, reference()


def picture(axes: Axes) -> None:
    counts = [0, 500, 1000, 2000, 4000, 6000, 8000, 9999]
    axes.plot(counts, [hidden_loss(law(), USERS, count, DELTA).upper for count in counts], marker="o")
    title = "Pairs that never both lie, 10,000 users, delta = 1e-6"
    axes.set(title=title, xlabel="others who collude", ylabel="your eps, the pairing hidden", ylim=(0.99, 1.05))
