"""Distribution and mean from numeric reports, used as they are (section 5.4 of the OGPM chapter).

The mean of reports estimates the mean of the data, with the mechanism's own bias; shares of bins estimate the
distribution. On a circle the mean is the direction of the average of unit vectors.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, InvalidInput, require_whole
from mechdesign.mechanisms.analysis import require_generator
from mechdesign.mechanisms.protocol import Mechanism, require_law
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Circle, Interval, require_domain, require_numbers


@frozen
class Accuracy:
    """Errors of an estimator over repeated collections.

    ``bias`` is the distance of the *average* estimate from the truth; it says little about one collection, which is
    what ``mean_absolute_error`` and ``rmse`` are about.
    """

    trials: int
    mean_absolute_error: float
    rmse: float
    bias: float


def bin_shares(values: ArrayLike, domain: Interval | Circle, bins: int) -> Floats:
    """Shares of values in ``bins`` equal bins of the domain; values beyond an interval are in no bin, angles wrap.

    >>> bin_shares([0.1, 0.2, 0.9, 1.7], Interval(0, 1), 2).tolist()
    [0.5, 0.25]
    """
    data = _values(values)
    require_domain(domain, (Interval, Circle))
    count = require_whole(bins, "bins", 1)
    inside = (
        domain.reduce(data) if isinstance(domain, Circle) else data[(data >= domain.lower) & (data <= domain.upper)]
    )
    # the upper end, and what rounding moves onto it, belongs to the last bin
    position = np.minimum(np.floor((inside - domain.lower) / domain.length * count).astype(np.int64), count - 1)
    return np.asarray(np.bincount(position, minlength=count) / data.size)


def circular_mean(values: ArrayLike, circle: Circle) -> float:
    """The direction of the average of the values as unit vectors.

    >>> round(circular_mean([350.0, 20.0], Circle(360.0)), 12)
    5.0
    """
    require_domain(circle, (Circle,))
    turns = _values(values) / circle.period * 2 * math.pi
    across, along = float(np.mean(np.sin(turns))), float(np.mean(np.cos(turns)))
    if math.hypot(across, along) < 1e-12:
        raise InvalidInput("values", "balanced around the circle", "point in some direction on average")
    angle = math.atan2(across, along) / (2 * math.pi) * circle.period
    return float(circle.reduce(angle))


def estimate_mean(reports: ArrayLike, domain: Interval | Circle) -> float:
    """The mean of the reports: arithmetic on an interval, circular on a circle."""
    require_domain(domain, (Interval, Circle))
    return circular_mean(reports, domain) if isinstance(domain, Circle) else float(np.mean(_values(reports)))


def estimate_distribution(reports: ArrayLike, domain: Interval | Circle, bins: int = 50) -> Floats:
    """The shares of the bins among the reports."""
    return bin_shares(reports, domain, bins)


def simulate_mean(mechanism: Mechanism, data: ArrayLike, trials: int, rng: np.random.Generator) -> Accuracy:
    """Errors of the estimated mean over repeated collections of the same data."""
    domain = _domain(mechanism)
    values = domain.require(data, "data")
    truth = estimate_mean(values, domain)
    estimates = _repeat(lambda: np.array(estimate_mean(mechanism.sample(values, rng), domain)), trials, rng)
    if isinstance(domain, Circle):
        offsets = np.mod(estimates - truth + domain.period / 2, domain.period) - domain.period / 2
    else:
        offsets = estimates - truth
    size = np.abs(offsets)
    return Accuracy(trials, float(size.mean()), float(np.sqrt(np.mean(size**2))), float(abs(offsets.mean())))


def simulate_distribution(
    mechanism: Mechanism, data: ArrayLike, trials: int, rng: np.random.Generator, bins: int = 50
) -> Accuracy:
    """Sum over bins of the absolute errors of the estimated shares, over repeated collections of the same data."""
    domain = _domain(mechanism)
    values = domain.require(data, "data")
    truth = bin_shares(values, domain, bins)
    estimates = _repeat(lambda: estimate_distribution(mechanism.sample(values, rng), domain, bins), trials, rng)
    sums = np.abs(estimates - truth).sum(axis=1)
    bias = float(np.abs(estimates.mean(axis=0) - truth).sum())
    return Accuracy(trials, float(sums.mean()), float(np.sqrt(np.mean(sums**2))), bias)


def _repeat(collection: Callable[[], Floats], trials: int, rng: np.random.Generator) -> Floats:
    require_generator(rng)
    return np.stack([collection() for _ in range(require_whole(trials, "trials", 1))])


def _domain(mechanism: Mechanism) -> Interval | Circle:
    inputs = require_law(mechanism).inputs
    if not isinstance(inputs, Interval | Circle):
        raise InvalidInput("mechanism", mechanism.name, "take inputs from an interval or a circle")
    return inputs


def _values(values: ArrayLike) -> Floats:
    data = require_numbers(values, "values").ravel()
    if data.size == 0:
        raise InvalidInput("values", values, "hold at least one number")
    if not np.isfinite(data).all():
        place = int(np.argmax(~np.isfinite(data)))
        raise InvalidData(f"values[{place}]", float(data.ravel()[place]), "be finite")
    return data
