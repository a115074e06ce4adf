"""A partner who colludes learns more than theorem 3 says.

Theorem 3 averages over the random pairing, but its adversary knows who is paired with a colluder. Given that the
partner lied, the user told the truth with probability ``p q (1 - rho) / q`` and lied with ``(q^2 + rho p q) / q``: at
p = 0.7 and rho = -0.2 a loss of ln 5.25 = 1.658 where p alone has ln (7/3) = 0.847; at ``rho = 1 - 1/p`` it is
infinite.

Ours is the package's loss given the partner (p = 0.7, rho = -0.2); the reference enumerates both users' truthfulness
by the definition of a covariance; printed is what theorem 3 has without colluders.

From: Refined mechanism design, theorem 3 and section 4.4.3; erratum 6.
"""

import numpy as np
from matplotlib.axes import Axes

from mechdesign.mechanisms.joint import JointResponse
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats

CHAPTER = "Users who lie together"
TOLERANCE = near(1e-12)
PRINTED = 0.847298
P, RHO = 0.7, -0.2


def truths(p: float, rho: float) -> Floats:
    """The chance of each pair (user lies or not, partner lies or not): product of the margins plus the covariance."""
    margin = np.array([1 - p, p])
    return np.outer(margin, margin) + rho * p * (1 - p) * np.array([[1, -1], [-1, 1]])


def of_partner(p: float, rho: float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.abs(np.diff(np.log(np.maximum(truths(p, rho), 0)), axis=0)).max())


def answer() -> tuple[float, float]:
    law = JointResponse.pair(P, RHO)
    told = [law.likelihoods(known=1, truthful=truthful) for truthful in (0, 1)]
    return max(abs(float(np.log(float(true / false)))) for true, false in told), of_partner(P, RHO)


def picture(axes: Axes) -> None:
    correlations = np.linspace(1 - 1 / P + 1e-4, 0, 200)
    axes.plot(correlations, [of_partner(P, rho) for rho in correlations], label="if the partner colludes")
    axes.axhline(PRINTED, color="black", linestyle="--", label="if nobody does")
    title = "Loss of a user whose partner colludes, p = 0.7"
    axes.set(title=title, xlabel="correlation rho", ylabel="privacy loss", ylim=(0, 5))
    axes.legend()
