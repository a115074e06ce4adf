"""Polar coordinates: a distance on an interval and an angle on a circle, each with its own share of epsilon.

The worst-case errors of the two coordinates add up. Each decreases in its epsilon, so on a range of splits
``[s, t]`` of the total the sum is at least ``line(t) + circle(total - s)``: branch and bound finds the best split and
bounds every other one.
"""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable
from typing import NamedTuple

from mechdesign.mechanisms.product import Product
from mechdesign.methods.method import Demands
from mechdesign.methods.piecewise.search import Bathtub, answer as piecewise_answer
from mechdesign.methods.polar.proof import SplitClaim
from mechdesign.methods.polar.supports import coordinates_of
from mechdesign.methods.result import Design, Report, versions
from mechdesign.values.declare import evolved
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_TOLERANCE = 1e-6


class Split(NamedTuple):
    """Shares of epsilon, the sum of errors there, and a lower bound on the sum at any split."""

    first: float
    second: float
    value: float
    lower: float


def answer(problem: Problem, demands: Demands) -> Design:
    """The product of the two optimal piecewise mechanisms at the best split.

    >>> from mechdesign import Circle, Interval, Piecewise
    >>> from mechdesign.words import domains
    >>> inputs = domains.Product((Interval(0, 1), Circle()))
    >>> asked = Problem(inputs=inputs, loss="squared", privacy=Pure(1 + 2 * math.pi), among=Piecewise())
    >>> [round(part.epsilon, 2) for part in answer(asked, Demands()).mechanism.parts]
    [1.53, 5.75]
    """
    started = time.perf_counter()
    distance, angle = coordinates_of(problem)

    def at(coordinate: Problem, share: float) -> Problem:
        return evolved(coordinate, privacy=Pure(share))

    split = best_split(
        problem.epsilon,
        lambda share: Bathtub.of(at(distance, share)).optimal_error(),
        lambda share: Bathtub.of(at(angle, share)).optimal_error(),
    )
    parts = [piecewise_answer(at(*one), Demands()) for one in ((distance, split.first), (angle, split.second))]
    mechanism = Product((parts[0].mechanism, parts[1].mechanism), "OGPM (polar)")  # type: ignore[arg-type]
    upper = sum(part.certificate.upper for part in parts)
    details = {
        "epsilon_distance": split.first,
        "epsilon_angle": split.second,
        "error_distance": parts[0].certificate.upper,
        "error_angle": parts[1].certificate.upper,
    }
    seconds, used = time.perf_counter() - started, versions("numpy", "scipy")
    report = Report(seconds, "branch and bound on the split", used, details, demands.gap)
    design = Design(problem, mechanism, SplitClaim(min(split.lower, upper)), report)
    return demands.met_by(design, "the search ended")


def best_split(total: float, first: Callable[[float], float], second: Callable[[float], float]) -> Split:
    """The split of ``total`` that minimises ``first(share) + second(total - share)`` for decreasing functions.

    >>> split = best_split(2.0, lambda e: 1 / e, lambda e: 1 / e)
    >>> round(split.first, 2), split.lower <= split.value <= split.lower * (1 + 2e-6)
    (1.0, True)
    """
    middle = total / 2
    # at the ends one coordinate would get no epsilon at all: they bound their neighbours but are never chosen
    values = {
        0.0: (math.inf, second(total)),
        middle: (first(middle), second(total - middle)),
        total: (first(total), math.inf),
    }
    best = middle
    # (lower bound, range): on [s, t] both terms are at least their value at the end that favours them
    waiting = [(values[t][0] + values[s][1], s, t) for s, t in ((0.0, middle), (middle, total))]
    heapq.heapify(waiting)
    while True:
        bound, low, high = heapq.heappop(waiting)
        if bound >= sum(values[best]) * (1 - _TOLERANCE):
            return Split(best, total - best, sum(values[best]), bound)
        middle = low + (high - low) / 2
        values[middle] = (first(middle), second(total - middle))
        if sum(values[middle]) < sum(values[best]):
            best = middle
        heapq.heappush(waiting, (values[middle][0] + values[low][1], low, middle))
        heapq.heappush(waiting, (values[high][0] + values[middle][1], middle, high))
