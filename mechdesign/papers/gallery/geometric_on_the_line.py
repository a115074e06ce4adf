"""On the line one mechanism serves every prior: geometric noise, its reports remapped.

For metric privacy ``q(y|x) <= e^(eps |x - x'|) q(y|x')`` on whole numbers and any prior, sending each report of
geometric noise to the number that is best for it under the prior is optimal, for every loss that grows with distance.

Ours is the proven upper end for eight numbers at eps = 0.6 under a lopsided prior, absolute error; the reference is the
remapped geometric mechanism, computed from its formula alone.

From: Ghosh, Roughgarden and Sundararajan 2009 (universally utility-maximizing privacy mechanisms).
"""

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.papers.gallery.agreement import near
from mechdesign.papers.gallery.reference import Floats

CHAPTER = "Directions and places"
TOLERANCE = near(1e-6)
EPSILON = 0.6
PRIOR = np.array([9, 1, 1, 4, 2, 1, 1, 5]) / 24


def geometric(count: int, epsilon: float) -> Floats:
    """Noise with chances in proportion to ``e^(-eps |z|)``, reports beyond the ends moved to them."""
    tail = np.exp(-epsilon)
    offset = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    table = (1 - tail) / (1 + tail) * tail**offset
    table[:, [0, -1]] /= 1 - tail
    return np.asarray(table)


def remapped_error(prior: Floats, epsilon: float) -> float:
    distances = np.abs(np.subtract.outer(np.arange(prior.size), np.arange(prior.size)))
    joint = prior[:, None] * geometric(prior.size, epsilon)
    return float((joint.T @ distances).min(axis=1).sum())


def optimum(prior: Floats, epsilon: float) -> float:
    problem = md.Problem(
        loss=md.Distances(), privacy=md.Metric(np.arange(float(prior.size)), epsilon), criterion=md.Average(prior)
    )
    return md.solve(problem).certificate.upper


def answer() -> tuple[float, float]:
    return optimum(PRIOR, EPSILON), remapped_error(PRIOR, EPSILON)


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.2, 2.0, 10)
    axes.plot(epsilons, [optimum(PRIOR, float(e)) for e in epsilons], label="optimum")
    axes.plot(epsilons, [remapped_error(PRIOR, float(e)) for e in epsilons], "o", label="geometric, remapped")
    axes.set(title="Eight numbers, a lopsided prior", xlabel="eps a unit", ylabel="expected distance")
    axes.legend()
