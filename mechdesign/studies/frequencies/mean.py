"""The mean of the users' values from the reports of one mechanism: estimate, confidence interval, exact error.

**Estimate.** If ``E[Y|x] = a + b x`` the reports are debiased, ``(Y - a) / b``; unbiased mechanisms have a = 0 and b
= 1. Where the expected report is not linear in the input the reports are averaged as they are, and the interval is
widened by the largest bias in both directions.

**Interval.** That of a mean of numbers between known ends (`mechdesign.intervals.reach_of_mean`), with the spread s of
the (debiased) reports. It covers the mean of the population the users come from. The mean of the users themselves is
nearer to the estimate, so it is covered with at least this confidence.

Where noise is rare, as for large epsilon, reports may all agree although they are off; and a small part of the
population may be missing among the users. What so few reports cannot have shown lies at an extreme report. Where
reports reach without end it lies at an end of the inputs, and s is at least the least that the noise has at any input.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, InvalidInput
from mechdesign.intervals import CONFIDENCE, reach_of_mean, sample_variance
from mechdesign.mechanisms.protocol import Mechanism, require_law
from mechdesign.mechanisms.smooth import maximum
from mechdesign.studies.frequencies.quantise import require_data
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Finite, Interval, require_numbers
from mechdesign.words.losses import Power

_LINEAR = 1e-9  # of the length of the inputs: how far the expected report may be from a line
_LEAST_SLOPE = 1e-9
_ROUNDING = 2.0**-46  # of the farthest output: what the rounding of doubles may move an expected report
_PLACES = 257


@frozen
class EstimatedMean:
    """An estimated mean with its interval; ``standard_error`` is about the noise and the choice of the users alike.

    An estimate whose error nobody knows, that of a reconstructed histogram, has neither: they are None.
    """

    value: float
    standard_error: float | None
    lower: float | None
    upper: float | None
    confidence: float
    users: int

    def covers(self, truth: float) -> bool | None:
        """Whether the interval holds the truth, None without an interval."""
        return None if self.lower is None or self.upper is None else self.lower <= truth <= self.upper


@frozen
class Calibration:
    """How reports become unbiased: ``(Y - intercept) / slope``, and the range of what bias is left."""

    intercept: float
    slope: float
    least_bias: float
    most_bias: float

    @property
    def is_unbiased(self) -> bool:
        return self.least_bias == 0.0 == self.most_bias


def calibrate(mechanism: Mechanism) -> Calibration:
    """The line through the expected reports if they lie on one, else the identity and the range of the bias.

    >>> from mechdesign.mechanisms import catalogue
    >>> calibrate(catalogue.pm(1.0)).slope, calibrate(catalogue.ogpm(1.0)).is_unbiased
    (1.0, False)
    """
    inputs = require_law(mechanism).inputs
    if not isinstance(inputs, Interval):
        raise InvalidInput("mechanism", mechanism.name, "take inputs from an interval", "see mechdesign.catalogue")
    kinks = np.asarray(mechanism.breakpoints(Power(2.0)))
    places = np.unique(np.concatenate([kinks, np.linspace(inputs.lower, inputs.upper, _PLACES)]))
    means = mechanism.mean(places)
    slack = _LINEAR * inputs.length
    if isinstance(mechanism.outputs, Interval | Finite):  # for small epsilon sums of far outputs that nearly cancel
        slack += _ROUNDING * max(abs(mechanism.outputs.lower), abs(mechanism.outputs.upper))
    if (np.abs(means - places) <= slack).all():
        return Calibration(0.0, 1.0, 0.0, 0.0)
    slope = float(means[-1] - means[0]) / inputs.length
    line = float(means[0]) + slope * (places - inputs.lower)
    if slope > _LEAST_SLOPE and (np.abs(means - line) <= slack).all():
        return Calibration(float(means[0]) - slope * inputs.lower, slope, 0.0, 0.0)
    most = maximum(lambda x: mechanism.mean(x) - x, kinks)[0]
    least = -maximum(lambda x: x - mechanism.mean(x), kinks)[0]
    return Calibration(0.0, 1.0, least, most)


def mean_of_reports(reports: ArrayLike, mechanism: Mechanism, confidence: float = CONFIDENCE) -> EstimatedMean:
    """The estimated mean of the users' values.

    >>> from mechdesign.mechanisms import catalogue
    >>> estimate = mean_of_reports([-2.0, 2.0, 2.0, 2.0], catalogue.laplace(1.0))
    >>> estimate.value, round(estimate.lower, 3), round(estimate.upper, 3)
    (1.0, -1.05, 2.96)
    """
    seen = require_numbers(reports, "reports").ravel()
    if seen.size < 2:
        raise InvalidInput("reports", f"{seen.size} of them", "be those of at least 2 users", "one has no spread")
    if not np.isfinite(seen).all():
        place = int(np.argmax(~np.isfinite(seen)))
        raise InvalidData(f"reports[{place}]", float(seen[place]), "be finite")
    line = calibrate(mechanism)
    found = reports_mean(seen, mechanism, confidence)
    value, error = (found.value - line.intercept) / line.slope, found.error / line.slope
    lower = value - found.below / line.slope - line.most_bias
    upper = value + found.above / line.slope - line.least_bias
    return EstimatedMean(value, error, lower, upper, confidence, seen.size)


@frozen
class Reach:
    """The average of a group's reports, its standard error, and how far below and above it the mean may be."""

    value: float
    error: float
    below: float
    above: float


def reports_mean(reports: Floats, mechanism: Mechanism, confidence: float) -> Reach:
    """The average of reports of one mechanism, as they are.

    >>> from mechdesign.mechanisms import catalogue
    >>> round(reports_mean(np.ones(100), catalogue.laplace(2.0), 0.95).error ** 2, 12)  # the noise alone has 2 / 2^2
    0.005
    """
    outputs, inputs = mechanism.outputs, mechanism.inputs
    if isinstance(outputs, Interval | Finite):
        return bounded_mean(reports, (outputs.lower, outputs.upper), confidence)
    assert isinstance(inputs, Interval)
    least = float(np.min(mechanism.variance(np.asarray(mechanism.breakpoints(Power(2.0))))))
    return bounded_mean(reports, (inputs.lower, inputs.upper), confidence, least)


def bounded_mean(numbers: Floats, ends: tuple[float, float], confidence: float, least: float = 0.0) -> Reach:
    """The average of numbers whose variance is at least ``least``; what they do not show lies at an end."""
    average = float(numbers.mean())
    variance = max(float(sample_variance(numbers.var(), numbers.size)), least)
    below, above = reach_of_mean(average, variance, numbers.size, ends, confidence)
    return Reach(average, math.sqrt(variance / numbers.size), float(below), float(above))


def mean_without_privacy(values: ArrayLike, inputs: Interval, confidence: float = CONFIDENCE) -> EstimatedMean:
    """The mean of the population that these users come from, were their values known.

    >>> found = mean_without_privacy([0.0] * 10, Interval(0, 1))
    >>> found.lower, round(found.upper, 3)
    (0.0, 0.308)
    """
    data = require_data(values, inputs, least=2)
    found = bounded_mean(data, (inputs.lower, inputs.upper), confidence)
    lower, upper = max(found.value - found.below, inputs.lower), min(found.value + found.above, inputs.upper)
    return EstimatedMean(found.value, found.error, lower, upper, confidence, data.size)


def expected_error(mechanism: Mechanism, values: ArrayLike) -> float:
    """The exact root of ``E (estimate - mean of the values)^2`` for these users, over the noise of their reports.

    ``sqrt(bias^2 + sum_i Var(Y|x_i) / (b n)^2)``, with the bias averaged over the values.

    >>> from mechdesign.mechanisms import catalogue
    >>> round(expected_error(catalogue.duchi(1.0), [-1.0, 1.0]) ** 2, 6)  # (coth(1/2)^2 - 1) / 2
    1.841347
    """
    inputs = require_law(mechanism).inputs
    if not isinstance(inputs, Interval):
        raise InvalidInput("mechanism", mechanism.name, "take inputs from an interval", "see mechdesign.catalogue")
    data = require_data(values, inputs)
    line = calibrate(mechanism)
    variance = float(np.mean(mechanism.variance(data))) / line.slope**2 / data.size
    bias = 0.0 if line.is_unbiased else float(np.mean(mechanism.mean(data) - data))
    return math.sqrt(bias * bias + variance)
