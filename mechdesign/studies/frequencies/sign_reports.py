"""Several numbers of each person as a pattern of signs: who is asked for what, the reports, and the estimated means."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechdesign.intervals import normal_quantile, reach_of_mean
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.sign_patterns.response import PatternResponse
from mechdesign.studies.frequencies.mean import EstimatedMean
from mechdesign.values.declare import Counts, Floats, derived, frozen
from mechdesign.words.domains import Interval

Uniforms = Callable[[int], Floats]
"""So many uniform numbers in [0, 1)."""

Respond = Callable[[Counts], Counts | Floats]
"""The reported pattern of each pattern."""


def drawn_places(shares: Floats, drawn: int, uniforms: Floats) -> Counts:
    """Which of some things each person is asked for, by one uniform number a person: as many rows of their places.

    >>> drawn_places(np.array([0.5, 0.5, 1.0]), 2, np.array([0.1, 0.9])).tolist()
    [[0, 2], [1, 2]]
    """
    edges = np.concatenate([[0.0], np.cumsum(shares)])
    edges[-1] = drawn
    marks = np.floor(edges[None, :] - uniforms[:, None])
    return np.nonzero(np.diff(marks, axis=1))[1].reshape(uniforms.size, drawn)


def means_about(
    middles: Floats, averages: Floats, variances: Floats, ends: Floats, users: int, confidence: float
) -> list[EstimatedMean]:
    """The mean of each number, with its interval: averages are less the middles, and lie between ``-ends`` and ends."""
    below, above = reach_of_mean(averages, variances, users, (-ends, ends), confidence)
    found = []
    for place, middle in enumerate(middles.tolist()):
        value, error = middle + float(averages[place]), float(np.sqrt(variances[place] / users))
        interval = value - float(below[place]), value + float(above[place])
        found.append(EstimatedMean(value, error, *interval, confidence, users))
    return found


def _shares(collection: SignCollection) -> Floats:
    response, halves = collection.response, [Fraction(length) for length in collection.lengths]
    return np.array([float(share) for share in response.shares(halves)])


def _steps(collection: SignCollection) -> Floats:
    ratio = PatternResponse.of(collection.channel)[1]
    return np.asarray(float(collection.response.factor(ratio)) * collection.halves / collection.shares)


@frozen
class SignCollection:
    """How numbers with these ranges are asked for; ``lengths`` of ranges in the units in which errors are added up.

    ``shares`` are the chances that a number is asked for, ``steps`` what a reported plus adds to the middle of its
    range; a report is 1, -1, or 0 for a number that was not asked for, and ``middle + step * report`` is unbiased.

    >>> law = PatternResponse(1)
    >>> collection = SignCollection(law, law.channel(2.0), (Interval(0, 10), Interval(-1, 1)), (5.0, 1.0))
    >>> collection.shares.round(3).tolist(), collection.steps.round(2).tolist()
    ([0.833, 0.167], [7.88, 7.88])
    """

    response: PatternResponse
    channel: Discrete
    sides: tuple[Interval, ...]
    lengths: tuple[float, ...]
    shares: Floats = derived(_shares)
    steps: Floats = derived(_steps)

    @property
    def halves(self) -> Floats:
        return np.array([side.length / 2 for side in self.sides])

    @property
    def middles(self) -> Floats:
        return np.array([side.middle for side in self.sides])

    def reports(self, values: Floats, uniforms: Uniforms, respond: Respond) -> Floats:
        """A row of signs a person, 0 for what was not asked."""
        users, count = values.shape
        places = drawn_places(self.shares, self.response.drawn, uniforms(users))
        rows = np.arange(users)[:, None]
        up = (1 + (values - self.middles) / self.halves) / 2
        plus = uniforms(users * self.response.drawn).reshape(places.shape) < up[rows, places]
        bits = np.arange(self.response.drawn)
        reported = respond((plus << bits).sum(axis=1)).astype(np.int64)
        signs = np.zeros((users, count))
        signs[rows, places] = 2 * (reported[:, None] >> bits & 1) - 1
        return signs

    def means(self, signs: Counts | Floats, confidence: float) -> list[EstimatedMean]:
        """The mean of each number from such rows, with its interval."""
        users = len(signs)
        averages = self.steps * signs.mean(axis=0)
        variances = np.maximum(self.steps**2 * self.shares - averages**2, 0.0)
        return means_about(self.middles, averages, variances, self.steps, users, confidence)

    def reach(self, users: int, confidence: float) -> Floats:
        """Half the length of the interval of each mean, at most, up to terms of order ``1 / users``."""
        return np.asarray(normal_quantile(confidence) * self.steps * np.sqrt(self.shares / users))
