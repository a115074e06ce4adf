"""How far AAA's variance is off is bounded by the larger of two quotients.

AAA designs noise for an estimate p' of the distribution p and promises the variance V' that it has under p'. If
``|p - p'| <= psi p`` at every value, the variance V under p is at most ``V' / (1 - psi)``, so that ``|V' - V| / V'`` is
at most ``psi / (1 - psi)``. The paper's claim 3 has the smaller ``psi / (1 + psi)``, which bounds one side only.

Ours is that relative error for the package's optimal noise on {-1, 0, 1} at eps = 4, psi = .5, where p' gives the ends
.25 and they have .5; the reference is that of a linear program of its own; printed is claim 3's bound.

From: the AAA paper (adaptive additive noise), section 5, claim 3; erratum 19.
"""

import numpy as np
from matplotlib.axes import Axes
from scipy import sparse

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats, private, program, sums

CHAPTER = "Means"
TOLERANCE = near(5e-3)
EPSILON, PSI = 4.0, 0.5
PRINTED = PSI / (1 + PSI)
X, Y = np.array([-1.0, 0.0, 1.0]), np.arange(-9.0, 10.0)


def told(psi: float) -> Floats:
    """The estimate: of the ends ``1 - psi`` of what they have, of the middle ``1 + psi``."""
    return np.array([(1 - psi) / 4, (1 + psi) / 2, (1 - psi) / 4])


def off(noise: Floats, psi: float) -> float:
    promised = told(psi) @ noise
    return float(abs(promised - np.array([0.25, 0.5, 0.25]) @ noise) / promised)


def least_noise(epsilon: float = EPSILON, psi: float = PSI) -> Floats:
    squares = (Y[None, :] - X[:, None]) ** 2
    equal = sparse.vstack([sums(3, np.ones(Y.size), Y.size), sums(3, Y, Y.size)])
    cost = np.append((told(psi)[:, None] * squares).ravel(), np.zeros(Y.size))
    _, laws = program(cost, equal, np.append(np.ones(3), X), private(3, Y.size, epsilon))
    return np.asarray((laws[: squares.size].reshape(squares.shape) * squares).sum(axis=1))


def answer() -> tuple[float, float]:
    prior, among = md.Average(md.priors.Atoms(X, told(PSI))), md.OnGrid(2)
    asked = md.Problem(
        inputs=md.Interval(-1, 1), loss=md.Squared(), privacy=md.Pure(EPSILON), criterion=prior, among=among
    )
    noise = np.asarray(md.solve(asked, gap=1e-6).own_law.expected_loss(X, md.Squared()))
    return off(noise, PSI), off(least_noise(), PSI)


def picture(axes: Axes) -> None:
    levels = np.linspace(0.02, 0.9, 23)
    for epsilon, style in ((4.0, "o-"), (2.0, "s--")):
        found = [off(least_noise(epsilon, float(psi)), float(psi)) for psi in levels]
        axes.plot(levels, found, style, markersize=3, label=f"least noise on three values, eps = {epsilon:g}")
    axes.plot(levels, levels / (1 + levels), ":", color="black", label="claim 3: psi / (1 + psi)")
    axes.plot(levels, levels / (1 - levels), "-.", color="gray", label="psi / (1 - psi)")
    axes.set(title="The variance AAA promises", xlabel="relative error psi of the estimated distribution")
    axes.set(ylabel="relative error of the variance", ylim=(0, 1.2))
    axes.legend()
