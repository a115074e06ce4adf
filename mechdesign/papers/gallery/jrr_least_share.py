"""JRR's average error in figure 4.6 is below the least that its formula allows.

With pairs that never both lie the standard error is the share ``sqrt(1 + rho ((2 n1 - n)^2 - n) / (n (n - 1)))`` of
randomised response's, ``rho = -e^-eps``. It grows with eps. Figure 4.6 has 21.1% on average over eps from 0.01 to 1
for n = 10^4 and n1 = n / 100; the share at eps = 0.01, the least, is 22.2%.

Ours is the share by the certified optimum at eps = 0.01; the reference is the formula; printed is the figure's
average.

From: Refined mechanism design, section 4.6.3, figure 4.6; erratum 18.
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.methods.joint.search import ratio
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-6)
PRINTED = 0.211
USERS, SHARE, EPSILON = 10_000, 0.01, 0.01


def share_of_error(epsilon: float) -> float:
    aligned = ((2 * SHARE - 1) * USERS) ** 2 - USERS
    return float(np.sqrt(1 - np.exp(-epsilon) * aligned / (USERS * (USERS - 1))))


def answer() -> tuple[float, float]:
    pairs = md.Problem(loss=md.Count(SHARE), privacy=md.Collusion(EPSILON, USERS), among=md.Together(group=2))
    return float(np.sqrt(ratio(md.solve(pairs)))), share_of_error(EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.01, 1, 100)
    axes.plot(epsilons, [share_of_error(epsilon) for epsilon in epsilons], label="exact")
    axes.axhline(PRINTED, color="black", linestyle="--", label="printed average")
    title = "JRR's error as a share of randomised response's"
    axes.set(title=title, xlabel="eps", ylabel="share of the standard error", ylim=(0, 1))
    axes.legend()
