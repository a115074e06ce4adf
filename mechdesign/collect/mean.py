"""The mean of the users' values from the reports of one mechanism: estimate, confidence interval, exact error.

**Estimate.** If ``E[Y|x] = a + b x`` the reports are debiased, ``(Y - a) / b``; unbiased mechanisms have a = 0 and b
= 1. Where the expected report is not linear in the input the reports are averaged as they are, and the interval is
widened by the largest bias in both directions.

**Interval.** ``estimate -/+ z s / sqrt(n)`` with s the standard deviation of the (debiased) reports. It covers the mean
of the population the users come from. The mean of the users themselves is nearer to the estimate, so it is covered with
at least this confidence. (By the central limit theorem: for few users it is an approximation.)

Where noise is rare, as for large epsilon, reports may all agree although they are off. So that they do not look too
sure, s is that of the reports with ``z^2 / 2`` more at either extreme report (as Agresti and Coull do for a share);
where reports reach without end it is at least the least standard deviation that the noise has at any input.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from mechdesign.collect.quantise import require_data
from mechdesign.domains import Finite, Interval, require_numbers
from mechdesign.errors import InvalidData, InvalidInput, require_chance
from mechdesign.losses import Power
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.mechanisms.smooth import maximum
from mechdesign.values.declare import Floats, frozen

CONFIDENCE = 0.95
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
    inputs = mechanism.inputs
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
    (1.0, -0.96, 2.96)
    """
    seen = require_numbers(reports, "reports").ravel()
    if seen.size < 2:
        raise InvalidInput("reports", f"{seen.size} of them", "be those of at least 2 users", "one has no spread")
    if not np.isfinite(seen).all():
        place = int(np.argmax(~np.isfinite(seen)))
        raise InvalidData(f"reports[{place}]", float(seen[place]), "be finite")
    line = calibrate(mechanism)
    debiased = (seen - line.intercept) / line.slope
    error = math.sqrt(variance_of_reports(seen, mechanism, confidence) / seen.size) / line.slope
    return normal_interval(float(debiased.mean()), error, seen.size, confidence, (line.least_bias, line.most_bias))


def variance_of_reports(reports: Floats, mechanism: Mechanism, confidence: float) -> float:
    """The variance of a report as an interval takes it: never that of a few reports which happen to agree.

    >>> from mechdesign.mechanisms import catalogue
    >>> round(variance_of_reports(np.ones(100), catalogue.laplace(2.0), 0.95), 12)  # the noise alone has 2 / 2^2
    0.5
    """
    outputs = mechanism.outputs
    if isinstance(outputs, Interval | Finite):
        return cautious_variance(reports, (outputs.lower, outputs.upper), confidence)
    least = float(np.min(mechanism.variance(np.asarray(mechanism.breakpoints(Power(2.0))))))
    return max(least, float(reports.var(ddof=1)) if reports.size > 1 else 0.0)


def cautious_variance(reports: Floats, ends: tuple[float, float], confidence: float) -> float:
    """The mean square about the average, as if ``z^2 / 2`` more reports had come at either end.

    >>> round(cautious_variance(np.array([0.0, 1.0]), (0.0, 1.0), 0.95), 3)  # (2 / 4 + 3.841 / 4) / 2
    0.73
    """
    average = float(reports.mean())
    reach = (average - ends[0]) ** 2 + (ends[1] - average) ** 2
    return float(reports.var()) + normal_quantile(confidence) ** 2 / 2 * reach / reports.size


def normal_interval(
    value: float, error: float, users: int, confidence: float, bias: tuple[float, float] = (0.0, 0.0)
) -> EstimatedMean:
    """The normal interval around an estimate, widened by what its bias may be."""
    reach = normal_quantile(confidence) * error
    return EstimatedMean(value, error, value - reach - bias[1], value + reach - bias[0], confidence, users)


def normal_quantile(confidence: float) -> float:
    """z with ``P(|Z| <= z) = confidence`` for a standard normal Z."""
    level = require_chance(confidence, "confidence", "for example 0.95")
    return float(special.ndtri(0.5 + level / 2))


def expected_error(mechanism: Mechanism, values: ArrayLike) -> float:
    """The exact root of ``E (estimate - mean of the values)^2`` for these users, over the noise of their reports.

    ``sqrt(bias^2 + sum_i Var(Y|x_i) / (b n)^2)``, with the bias averaged over the values.

    >>> from mechdesign.mechanisms import catalogue
    >>> round(expected_error(catalogue.duchi(1.0), [-1.0, 1.0]) ** 2, 6)  # (coth(1/2)^2 - 1) / 2
    1.841347
    """
    inputs = mechanism.inputs
    if not isinstance(inputs, Interval):
        raise InvalidInput("mechanism", mechanism.name, "take inputs from an interval", "see mechdesign.catalogue")
    data = require_data(values, inputs)
    line = calibrate(mechanism)
    variance = float(np.mean(mechanism.variance(data))) / line.slope**2 / data.size
    bias = 0.0 if line.is_unbiased else float(np.mean(mechanism.mean(data) - data))
    return math.sqrt(bias * bias + variance)


def sampling_error(values: ArrayLike, inputs: Interval) -> float:
    """What the standard error would be without privacy, ``s / sqrt(n)``: there the only error is who was asked.

    >>> sampling_error([0.0, 1.0, 0.0, 1.0], Interval(0, 1)) == math.sqrt(1 / 12)
    True
    """
    data = require_data(values, inputs, least=2)
    return float(data.std(ddof=1)) / math.sqrt(data.size)
