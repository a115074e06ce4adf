"""Square wave reports made a distribution by EM, and by EM with smoothing (Li et al., SIGMOD 2020).

Each report falls into a bin of the outputs; ``channel[i, j]`` is the chance of bin j for a value uniform in bin i of
the inputs. EM climbs the likelihood of the counts; EMS averages neighbours with weights (1, 2, 1)/4 after every step,
which keeps the noise of the counts out of the histogram but is no maximum likelihood estimate.

The mean of the reconstructed histogram is a *biased* estimate of the mean: the histogram cannot reach outside the
domain, and smoothing pulls inwards. For an interval use the reports themselves (`mechdesign.studies.frequencies.mean`):
their expectation is linear in the input.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import InvalidData, InvalidInput, NoAnswer, require_finite, require_whole
from mechdesign.mechanisms.piecewise import AffineWindow, Piecewise
from mechdesign.mechanisms.protocol import require_law
from mechdesign.studies.frequencies.quantise import require_bins
from mechdesign.values.declare import Floats, array, frozen
from mechdesign.words.domains import Interval, require_numbers

BINS = 256
TOLERANCE = 1e-3
"""Gain in log-likelihood at which both stop; EM times ``e^epsilon``, as its authors do for epsilon up to 4."""
MOST_STEPS = 10_000
LEAST_BINS = 2  # one bin has its mean in the middle whatever is reported
EM_SLACK = math.exp(4)
"""The most that EM's tolerance is multiplied by: beyond it that would end EM before it has moved."""


@frozen
class Reconstruction:
    """A histogram of the inputs: the ``weights`` of its bins, the steps it took and the log-likelihood it reached."""

    inputs: Interval
    weights: Floats = array()
    steps: int
    log_likelihood: float

    @property
    def mean(self) -> float:
        """The mean of the histogram, its bins taken at their centres."""
        centres = (np.arange(self.weights.size) + 0.5) / self.weights.size
        return self.inputs.lower + self.inputs.length * float(self.weights @ centres)


def square_wave_channel(mechanism: Piecewise, bins: int = BINS) -> Floats:
    """``P(report in bin j | value uniform in bin i)``, exactly: as many bins of the outputs as of the inputs.

    >>> from mechdesign.mechanisms.catalogue import sw
    >>> channel = square_wave_channel(sw(1.0), 4)
    >>> channel.sum(axis=1).round(12).tolist()
    [1.0, 1.0, 1.0, 1.0]
    """
    require_law(mechanism)
    inputs, outputs, window = mechanism.inputs, mechanism.outputs, getattr(mechanism, "window", None)
    if not (isinstance(inputs, Interval) and isinstance(outputs, Interval) and isinstance(window, AffineWindow)):
        raise InvalidInput("mechanism", mechanism.name, "have a window that moves with the input", "for example sw")
    cuts = np.linspace(inputs.lower, inputs.upper, require_bins(bins) + 1)
    starts = window.pivot + window.slope * (cuts - window.pivot) + window.offset - mechanism.width / 2
    slack = 1e-9 * outputs.length
    if starts[0] < outputs.lower - slack or starts[-1] + mechanism.width > outputs.upper + slack:
        raise InvalidInput("mechanism", mechanism.name, "have windows that stay inside its outputs", "for example sw")
    reports = np.linspace(outputs.lower, outputs.upper, bins + 1)

    # the length of the window below a report, averaged over windows that start between two cuts
    def primitive(length: Floats) -> Floats:
        rising = np.clip(length, 0.0, mechanism.width)
        return np.asarray(rising**2 / 2 + mechanism.width * np.maximum(length - mechanism.width, 0.0))

    sums = primitive(reports[None, :] - starts[:, None])
    covered = (sums[:-1] - sums[1:]) / np.diff(starts)[:, None]
    below = mechanism.low * (reports - outputs.lower) + (mechanism.high - mechanism.low) * covered
    channel = np.maximum(np.diff(below, axis=1), 0.0)
    return np.asarray(channel / channel.sum(axis=1, keepdims=True))


def report_counts(reports: ArrayLike, mechanism: Piecewise, bins: int = BINS) -> Floats:
    """How many reports fall into each bin of the outputs."""
    seen = require_numbers(reports, "reports").ravel()
    outputs = require_law(mechanism).outputs
    slack = 1e-9 * outputs.length
    if seen.size == 0:
        raise InvalidInput("reports", reports, "hold at least one number")
    outside = ~((seen >= outputs.lower - slack) & (seen <= outputs.upper + slack))
    if outside.any():
        first = int(np.argmax(outside))
        raise InvalidData(f"reports[{first}]", float(seen[first]), f"lie in {outputs}, the outputs of {mechanism.name}")
    place = np.floor((seen - outputs.lower) / outputs.length * require_bins(bins)).astype(np.int64)
    return np.bincount(np.clip(place, 0, bins - 1), minlength=bins).astype(np.float64)


def em(
    counts: ArrayLike, channel: ArrayLike, inputs: Interval, tolerance: float = TOLERANCE, steps: int = MOST_STEPS
) -> Reconstruction:
    """The most likely histogram, up to the tolerance: every step raises the likelihood of the counts.

    >>> identity = np.eye(3)
    >>> em([2, 1, 1], identity, Interval(0, 3)).weights.tolist()
    [0.5, 0.25, 0.25]
    """
    return _climb(counts, channel, inputs, tolerance, steps, lambda weights: weights)


def ems(
    counts: ArrayLike, channel: ArrayLike, inputs: Interval, tolerance: float = TOLERANCE, steps: int = MOST_STEPS
) -> Reconstruction:
    """EM with the histogram smoothed after every step."""
    return _climb(counts, channel, inputs, tolerance, steps, smoothed)


def smoothed(weights: Floats) -> Floats:
    """Neighbours averaged with weights (1, 2, 1)/4, at the ends (2, 1)/3, and the total restored.

    >>> smoothed(np.array([0.0, 0.0, 1.0, 0.0, 0.0])).tolist()
    [0.0, 0.25, 0.5, 0.25, 0.0]
    """
    if weights.size < 2:
        return weights
    padded = np.concatenate([[0.0], weights, [0.0]])
    sums = padded[:-2] + 2 * padded[1:-1] + padded[2:]
    shares = np.full(weights.size, 4.0)
    shares[[0, -1]] = 3.0
    averaged = sums / shares
    return np.asarray(averaged / averaged.sum())


def estimate_by_em(reports: ArrayLike, mechanism: Piecewise, bins: int = BINS) -> Reconstruction:
    """The distribution of the values from square wave reports, by EM."""
    epsilon = require_law(mechanism).epsilon
    return _from_reports(em, reports, mechanism, bins, TOLERANCE * min(math.exp(epsilon), EM_SLACK))


def estimate_by_ems(reports: ArrayLike, mechanism: Piecewise, bins: int = BINS) -> Reconstruction:
    """The distribution of the values from square wave reports, by EM with smoothing."""
    return _from_reports(ems, reports, mechanism, bins, TOLERANCE)


def _from_reports(
    climb: Callable[..., Reconstruction], reports: ArrayLike, mechanism: Piecewise, bins: int, tolerance: float
) -> Reconstruction:
    channel = square_wave_channel(mechanism, require_bins(bins, LEAST_BINS))
    return climb(report_counts(reports, mechanism, bins), channel, mechanism.inputs, tolerance)


def _climb(
    counts: ArrayLike,
    channel: ArrayLike,
    inputs: Interval,
    tolerance: float,
    steps: int,
    after: Callable[[Floats], Floats],
) -> Reconstruction:
    seen, table = _require_counts(counts), _require_channel(channel)
    if seen.size != table.shape[1]:
        raise InvalidInput("counts", seen.size, f"have one entry for each of the {table.shape[1]} bins of reports")
    limit = require_finite(tolerance, "tolerance")
    if not limit > 0:
        raise InvalidInput("tolerance", tolerance, "be above 0")
    require_whole(steps, "steps", 1)
    table, seen = np.ascontiguousarray(table[:, seen > 0]), seen[seen > 0]
    weights = np.full(table.shape[0], 1 / table.shape[0])
    expected = weights @ table
    if not (expected > 0).all():
        raise InvalidInput("counts", "reports", "be possible for some input", "was the channel made for them?")
    reached = float(seen @ np.log(expected))
    for step in range(1, int(steps) + 1):
        weights = weights * (table @ (seen / expected))
        weights = after(weights / weights.sum())
        expected = weights @ table
        before, reached = reached, float(seen @ np.log(expected))
        if abs(reached - before) < limit:
            return Reconstruction(inputs, weights, step, reached)
    bound = float(seen @ np.log(seen / seen.sum()))
    raise NoAnswer(f"the likelihood still rises after {steps} steps (log-likelihood)", reached, bound)


def _require_counts(counts: ArrayLike) -> Floats:
    seen = require_numbers(counts, "counts")
    if seen.ndim != 1 or not (np.isfinite(seen) & (seen >= 0)).all() or not seen.sum() > 0:
        raise InvalidInput("counts", counts, "be finite, at least 0, and not all 0")
    return seen


def _require_channel(channel: ArrayLike) -> Floats:
    table = require_numbers(channel, "channel")
    is_table = table.ndim == 2 and table.size > 0 and bool((np.isfinite(table) & (table >= 0)).all())
    if not is_table or not np.allclose(table.sum(axis=1), 1, rtol=0, atol=1e-9):
        raise InvalidInput("channel", table.shape, "have a row an input: probabilities that sum to 1")
    return table
