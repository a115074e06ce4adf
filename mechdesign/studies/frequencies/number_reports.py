"""Several numbers of each person, some drawn and each reported as a number: who is asked for what, reports, means."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from mechdesign.intervals import normal_quantile
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.studies.frequencies.mean import EstimatedMean
from mechdesign.studies.frequencies.sign_reports import Uniforms, drawn_places, means_about
from mechdesign.values.declare import Counts, Floats, frozen
from mechdesign.words.domains import Interval

Respond = Callable[[Floats], Floats]
"""The report of each number in [-1, 1]."""


@frozen
class NumberCollection:
    """``drawn`` of the numbers, all as likely, each reported by the law of one number in [-1, 1].

    A report is in units of half a range from its middle, and 0 for a number that was not asked for:
    ``middle + step * report`` is unbiased, with ``step = (d / drawn) * half a range``.

    >>> from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
    >>> law = UnbiasedWindow(1.0, Interval(-1, 1), [-5.0, 0.0, 5.0], [0.2, 0.1, 0.2], 2.5)
    >>> asked = NumberCollection(1, law, (Interval(0, 10), Interval(-1, 1)))
    >>> asked.steps.tolist(), asked.worst == 2 * law.exact_worst_variance() + 1
    ([10.0, 2.0], True)
    """

    drawn: int
    law: UnbiasedWindow
    sides: tuple[Interval, ...]

    @property
    def shares(self) -> Floats:
        """The chance that a number is asked for."""
        return np.full(len(self.sides), self.drawn / len(self.sides))

    @property
    def halves(self) -> Floats:
        return np.array([side.length / 2 for side in self.sides])

    @property
    def steps(self) -> Floats:
        return self.halves / self.shares

    @property
    def middles(self) -> Floats:
        return np.array([side.middle for side in self.sides])

    @property
    def second_moment(self) -> Fraction:
        """``E[Y^2|x]`` of each number at most, in units of half its range: ``(d/k)(Var + x^2)``."""
        return (self.law.exact_worst_variance() + 1) * Fraction(len(self.sides), self.drawn)

    @property
    def worst(self) -> Fraction:
        """The variance of each number at most, in units of half its range: ``(d/k)(Var + x^2) - x^2``."""
        return self.second_moment - 1

    def reports(self, values: Floats, uniforms: Uniforms, respond: Respond) -> Floats:
        """A row of reports a person, 0 for what was not asked."""
        places = drawn_places(self.shares, self.drawn, uniforms(len(values)))
        rows = np.arange(len(values))[:, None]
        units = (values - self.middles) / self.halves
        sent = np.zeros(values.shape)
        asked = np.clip(units[rows, places], -1.0, 1.0)  # rounding alone leaves the ends
        sent[rows, places] = respond(asked.ravel()).reshape(places.shape)
        return sent

    def means(self, reports: Floats | Counts, confidence: float) -> list[EstimatedMean]:
        """The mean of each number from such rows, with its interval."""
        users, end = len(reports), float(np.abs(self.law.points).max())
        averages = self.steps * reports.mean(axis=0)
        variances = np.maximum(self.steps**2 * (reports**2).mean(axis=0) - averages**2, 0.0)
        return means_about(self.middles, averages, variances, self.steps * end, users, confidence)

    def reach(self, users: int, confidence: float) -> Floats:
        """Half the length of the interval of each mean, at most, up to terms of order ``1 / users``."""
        return np.asarray(normal_quantile(confidence) * self.halves * math.sqrt(self.second_moment / users))
