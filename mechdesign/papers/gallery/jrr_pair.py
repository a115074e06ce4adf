"""Two users who never both lie: joint randomised response.

Users are paired at random and lie with correlation rho; each tells the truth with probability ``p = e^eps / (e^eps +
1)``, as in randomised response. The number of ones among n users, of whom n1 have one, is estimated with variance ``p
q / (p - q)^2 (n + rho ((2 n1 - n)^2 - n) / (n - 1))``. Without colluders ``rho = 1 - 1/p`` is best where few or most
have a one: both never lie.

Ours is the certified optimum over all pair laws for n = 10^4, n1 = 100, eps = 1; the reference is the formula.

From: Refined mechanism design, theorem 4 and section 4.3.4.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-9)
USERS, EPSILON, SHARE = 10_000, 1.0, 0.01


def variance(share: float, rho: float) -> float:
    p = np.exp(EPSILON) / (1 + np.exp(EPSILON))
    align = USERS + rho * (((2 * share - 1) * USERS) ** 2 - USERS) / (USERS - 1)
    return float(p * (1 - p) / (2 * p - 1) ** 2 * align)


def answer() -> tuple[float, float]:
    pairs = md.Problem(loss=md.Count(SHARE), privacy=md.Collusion(EPSILON, USERS), among=md.Together(group=2))
    return md.solve(pairs).certificate.upper, variance(SHARE, -np.exp(-EPSILON))


def picture(axes: Axes) -> None:
    shares = np.linspace(0, 1, 101)
    for rho, style, name in ((0.0, "--", "randomised response"), (-np.exp(-EPSILON), "-", "pairs that never both lie")):
        axes.plot(shares, [np.sqrt(variance(share, rho)) for share in shares], style, label=name)
    title = "Counting ones among 10,000 users, eps = 1"
    axes.set(title=title, xlabel="share of users with a one", ylabel="standard deviation (users)")
    axes.set_ylim(0, 110)
    axes.legend()
