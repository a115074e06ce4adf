"""The two-output theorem: for small epsilon two outputs are the minimax optimum, in closed form.

Write ``c = e^eps``, p > 1 and ``t = 1 / (1 + c^(1/(p-1)))``. On [0, 1] the outputs ``{t, 1 - t}``, the nearer with
probability ``c / (1 + c)``, have error ``V = (c t^p + (1-t)^p) / (1 + c)`` at both ends and ``(1/2 - t)^p`` in the
middle, and between these the error is convex. No mechanism has less than V on the two ends alone
(`mechdesign.exact.two_inputs`). So the two outputs are optimal iff

    ``(1/2 - t)^p <= V``.

For p = 2 then ``t = 1 / (1 + c)``, ``V = c / (1 + c)^2`` and the condition is ``c^2 - 6 c + 1 <= 0``, that is
``eps <= ln(3 + 2 sqrt 2)``. For p = 1 there is no such epsilon: t is 0, and 1/2 is above ``V = 1 / (1 + c)``.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign.exact.levelled_prior import LevelledPrior
from mechdesign.mechanisms.catalogue import largest_safe_height
from mechdesign.mechanisms.window import Window
from mechdesign.words.domains import Interval

_MOST_EXPONENT = 700.0  # of e, that a double holds


def two_outputs(epsilon: float, exponent: float, inputs: Interval) -> Window | None:
    """The optimal mechanism where the theorem has one.

    >>> two_outputs(1.0, 2.0, Interval(0, 1)).points.round(8).tolist()
    [0.26894142, 0.73105858]
    >>> two_outputs(1.7627, 2.0, Interval(0, 1)) is None, two_outputs(1.7628, 2.0, Interval(0, 1)) is None
    (False, True)
    """
    ratio = largest_safe_height(epsilon, 1.0)
    share = _share(ratio, exponent)
    if (0.5 - share) ** exponent > two_input_value(ratio, exponent):
        return None
    points = np.array([inputs.lower + share * inputs.length, inputs.upper - share * inputs.length])
    if not points[0] < points[1]:
        return None
    return Window(epsilon, inputs, points, np.full(2, 1 / (1 + ratio)), ratio, "minimax")


def two_input_value(ratio: float, exponent: float) -> float:
    """V: the least worst-case error that the inputs 0 and 1 allow, in doubles.

    >>> round(two_input_value(math.e, 2.0), 8), round(two_input_value(math.e, 1.0), 8)
    (0.19661193, 0.26894142)
    """
    share = _share(ratio, exponent)
    return float((ratio * share**exponent + (1 - share) ** exponent) / (1 + ratio))


def _share(ratio: float, exponent: float) -> float:
    """t: the output that is best where the input 0 is ``ratio`` times as likely as the input 1."""
    if exponent == 2:
        return 1 / (1 + ratio)
    if exponent == 1 or math.log(ratio) / (exponent - 1) > _MOST_EXPONENT:
        return 0.0
    return 1 / (1 + math.exp(math.log(ratio) / (exponent - 1)))


def two_atoms(ratio: float, exponent: float) -> LevelledPrior:
    """The least-favourable prior on the two ends of [0, 1], at the radius whose bound is V.

    With ``r^p = V`` the least value of G is 0: at t it is ``(c t^p + (1-t)^p - (1+c) r^p) / 2``.
    """
    radius = two_input_value(ratio, exponent) ** (1 / exponent)
    return LevelledPrior(np.array([0.0, 1.0]), np.full(2, radius), np.full(2, 0.5))
