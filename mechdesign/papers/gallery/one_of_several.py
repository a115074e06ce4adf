"""To ask each person for one of several numbers costs 2.55 times the noise at eps = 4.

Asked for one of d numbers with all of eps, a person has the error ``d^2 ((c + 1) / (c - 1))^2``, ``c = e^eps``; asked
for a pattern of the signs of four, ``(d^2 / 4) ((c + 15) / (c - 1))^2``. The second is the first divided by
``4 ((c + 1) / (c + 15))^2``, whatever d is: by 2.55 at eps = 4. Splitting people over questions gives that away.

Ours is the ratio of the errors that are certified for ten numbers (one number drawn, and the best design); the
reference is the closed form.

From: this package (sign patterns).
"""

import math
from fractions import Fraction

import numpy as np
from matplotlib.axes import Axes

import mechdesign as md
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.papers.gallery.agreement import near

CHAPTER = "Means"
TOLERANCE = near(1e-9)
EPSILON, NUMBERS = 4.0, 10


def ratio(epsilon: float, count: int) -> float:
    inputs, privacy = md.cube_of(count), md.Pure(epsilon)
    problem = md.Problem(inputs=inputs, loss=md.Squared(), privacy=privacy, among=md.Unbiased())
    best = md.solve(problem, method="sign_patterns")
    one = PatternResponse(1).second_moment(Fraction(math.exp(epsilon)), [Fraction(1)] * count)
    return float(one) / best.certificate.upper


def answer() -> tuple[float, float]:
    c = math.exp(EPSILON)
    return ratio(EPSILON, NUMBERS), 4 * ((c + 1) / (c + 15)) ** 2


def picture(axes: Axes) -> None:
    epsilons = np.linspace(0.5, 6, 23)
    for count in (2, 5, 10):
        axes.plot(epsilons, [ratio(epsilon, count) for epsilon in epsilons], label=f"{count} numbers")
    axes.set(title="One of several numbers, beside sign patterns", xlabel="eps", ylabel="times the noise")
    axes.legend()
