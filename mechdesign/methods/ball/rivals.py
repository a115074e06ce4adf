"""Published unbiased ways to report a vector of length at most 1, each by ``E|Y - x|^2 = middle + slope |x|^2``.

A report v of length 1 that has its own direction's coordinate m on average is stretched to ``Y = v / m``, so that
``E|Y|^2 = 1/m^2``. What is published for a cube serves all vectors inside of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mechdesign.exact.caps import cap_above
from mechdesign.mechanisms.directions import HIGHEST
from mechdesign.methods.sign_patterns.rivals import rivals_on_cubes
from mechdesign.values.declare import frozen
from mechdesign.words.vectors import CrossPolytope, Vectors

_SPLITS = 100
_UNSURE = 1e-12


@frozen
class BallRival:
    """A published way, by its error at vectors of length at most 1."""

    name: str
    middle: float
    slope: float

    def worst(self, inputs: Vectors) -> float:
        """The largest error of these inputs: at the shortest vectors, or at the longest."""
        return inputs.radius**2 * (self.middle + max(self.slope * inputs.least_square, self.slope))

    def average(self, inputs: Vectors) -> float:
        """The error averaged over uniform inputs."""
        return inputs.radius**2 * (self.middle + self.slope * inputs.mean_square)


def ball_rivals(epsilon: float, inputs: Vectors) -> Iterator[BallRival]:
    """All of them, for such inputs.

    >>> from mechdesign.words.vectors import Sphere
    >>> [(one.name, round(one.worst(Sphere(1024)) / 1024, 3)) for one in list(ball_rivals(4.0, Sphere(1024)))[:3]]
    [("duchi's for the ball", 1.688), ('privunit by its condition', 0.614), ('laplace on the ball', 256.25)]
    """
    count = inputs.count
    yield _stretched("duchi's for the ball", 2 * math.tanh(epsilon / 2) * float(cap_above(count, 0.0).lean.upper))
    yield _stretched("privunit by its condition", max(_kept_by_priv_unit(epsilon, count)))
    if isinstance(inputs, CrossPolytope):
        yield BallRival("laplace of each coordinate", 2 * count * (2 / epsilon) ** 2, 0.0)
        yield _stretched("response of a signed coordinate", math.expm1(epsilon) / (2 * count + math.expm1(epsilon)))
    else:
        yield BallRival("laplace on the ball", count * (count + 1) * (2 / epsilon) ** 2, 0.0)
    for one in rivals_on_cubes(epsilon, count):
        yield BallRival(one.name, count * one.alpha, one.beta)


def _stretched(name: str, kept: float) -> BallRival:
    return BallRival(name, kept**-2, -1.0)


def _kept_by_priv_unit(epsilon: float, count: int) -> Iterator[float]:
    """How much of a direction is kept by PrivUnit (Bhowmick et al. 2018, theorem 1), over splits of epsilon.

    A part of epsilon is spent on the coin that chooses the cap or the rest, the other on a cap of a height t that one
    of two conditions allows: ``t <= tanh(eps/2) sqrt(pi / (2 (d-1)))``, or ``t^2 >= 2/d`` and
    ``eps >= log(d)/2 + log 6 - (d-1)/2 log(1 - t^2) + log t``. The split is the best. On the circle the first condition
    allows caps that are too small for epsilon: these are left out.
    """
    for part in np.linspace(0, 1, _SPLITS + 1)[:-1].tolist():
        coin, rest = 1 / (1 + math.exp(-part * epsilon)), (1 - part) * epsilon
        for height in _heights(rest, count):
            cap = cap_above(count, height)
            share, lean = float(cap.share.lower), float(cap.lean.upper)
            if share * (1 + math.exp(rest)) >= 1 - _UNSURE:
                yield lean * (coin / share - (1 - coin) / (1 - share))


def _heights(epsilon: float, count: int) -> Iterator[float]:
    """The highest caps that the two conditions allow."""
    yield min(HIGHEST, math.tanh(epsilon / 2) * math.sqrt(math.pi / (2 * (count - 1))))

    def spent(height: float) -> float:
        return math.log(count) / 2 + math.log(6) - (count - 1) / 2 * math.log1p(-(height**2)) + math.log(height)

    low, high = math.sqrt(2 / count), HIGHEST
    if low < high and spent(low) <= epsilon:
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if spent(middle) <= epsilon else (low, middle)
        yield low
