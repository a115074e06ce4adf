"""The linear program of the additive optimum: reports on the grid of the inputs, and two tails as columns.

In steps of the grid the inputs are ``0, 1, ..., N`` and the outputs all whole numbers. Up to ``M - 1`` steps beyond the
inputs every output has a base mass of its own. From M steps on, all laws decay by one ratio ``r = k / (k + 1)`` a step,
so that a tail is one column: what is between base and ``c`` times base for its first output is so for all of it, for
every r. Its mean is k steps beyond its first output, its variance ``k (k + 1)``: whole numbers, nothing is cut off.

A column at y with variance v costs ``p_x ((y - x)^2 + v)`` and adds ``y - x`` to the bias of x. That is the program of
`mechdesign.design.unbiased.program` with other costs, and its interior-point method solves it in ``O(m n^2)`` a step.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.unbiased.program import InteriorPoint, Optimum

Floats = NDArray[np.float64]

_MOST_STEPS = 300
_USUAL_ENDS, _USUAL_PULL = 0.6, 0.8  # where outputs reach far the start needs little of its base at the ends


def solve_columns(
    inputs: Floats, weights: Floats, ratio: float, places: Floats, spreads: Floats, gap: float, deadline: float
) -> Optimum:
    """The optimum on columns with these means and variances to a relative ``gap``, or as near as doubles allow.

    Inputs lie in [-1, 1]; places increase from ``-R`` to ``R > coth(eps / 2)``, or nothing would be unbiased.
    """
    scale = float(places[-1])
    point = _start(inputs / scale, weights, ratio, places / scale, spreads / scale**2)
    steps = 0
    while steps < _MOST_STEPS and point.gap > gap * point.upper and time.perf_counter() < deadline:
        try:
            with np.errstate(all="raise", under="ignore"):
                point.step()
        except (np.linalg.LinAlgError, FloatingPointError, ValueError):  # as far as doubles go
            break
        steps += 1
    square = scale * scale
    return Optimum(
        point.base, point.values * square, point.slopes * scale, point.upper * square, point.lower * square, steps
    )


def _start(inputs: Floats, weights: Floats, ratio: float, places: Floats, spreads: Floats) -> InteriorPoint:
    """A start that is feasible on both sides, with places scaled to [-1, 1]."""
    point = InteriorPoint(inputs, weights, ratio, places)
    size = places.size
    # half of every law is extra, tilted to its mean: the second moment of the base decides how much tilt that takes
    tilt = float(np.abs(inputs).max()) * (ratio + 1) / (ratio - 1)
    pull = max(_USUAL_PULL, (1 + tilt) / 2)
    inner = float(places @ places) / size
    ends = min(max((tilt / pull - inner) / (1 - inner), _USUAL_ENDS), 1 - 1e-9)
    base = np.full(size, (1 - ends) / size)
    base[[0, -1]] += ends / 2
    point.base = base * (2 / (1 + ratio))
    tilts = inputs / (point.gain * (point.base @ places**2))
    point.extra = point.gain * point.base * (0.5 + tilts[:, None] * places)
    point.room = point.gain * point.base - point.extra
    # variances raise costs, and so both multipliers of the bounds: their balance over the inputs has to stay
    added = weights[:, None] * spreads
    share = added.sum(axis=0) / (point.gain * inputs.size)
    point.costs = point.costs + added
    point.quadratics = point.quadratics + added
    point.at_top = point.at_top + share
    point.at_base = point.at_base + added + share
    return point
