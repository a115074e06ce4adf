"""Laws between a base measure and a multiple of it: a stretch of the cumulative base is topped up, the rest is not.

Both window mechanisms are of this form; they differ in where the stretch starts for an input.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.losses import Loss
from mechdesign.mechanisms import analysis

Floats = NDArray[np.float64]

_BLOCK = 1 << 20


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """``base`` everywhere and ``ratio * base`` on a stretch of ``length`` along the ``cumulative`` base.

    Methods take the start of the stretch, one for each input. A total of one makes the length ``E / (ratio - 1)`` with
    ``E = 1 - sum(base)``.

    >>> fill = Fill.over(np.array([0.25, 0.75]), np.array([0.25, 0.25]), 3.0)
    >>> fill.rows(np.array([0.0, 0.125])).tolist()
    [[0.75, 0.25], [0.5, 0.5]]
    """

    points: Floats
    base: Floats
    ratio: float
    cumulative: Floats
    length: float

    @classmethod
    def over(cls, points: Floats, base: Floats, ratio: float) -> Fill:
        """The fill of increasing ``points`` with positive masses ``base``."""
        cumulative = np.concatenate([[0.0], np.cumsum(base)])
        extra = max(0.0, 1.0 - float(cumulative[-1]))
        length = min(extra / (ratio - 1), float(cumulative[-1])) if ratio > 1 else 0.0
        return cls(points, base, ratio, cumulative, length)

    @property
    def last(self) -> float:
        """The last place where the stretch may start."""
        return float(self.cumulative[-1]) - self.length

    def rows(self, start: Floats) -> Floats:
        """The probabilities of all outputs, one more axis than ``start``."""
        spans = np.minimum(self.cumulative[1:], start[..., None] + self.length)
        spans -= np.maximum(self.cumulative[:-1], start[..., None])
        return np.asarray(self.base + (self.ratio - 1) * np.maximum(spans, 0.0))

    def mass(self, y: ArrayLike, start: Floats) -> Floats:
        """The probability of exactly ``y``."""
        outputs = analysis.require_outputs(y)
        column = np.minimum(np.searchsorted(self.points, outputs), self.points.size - 1)
        stop = np.minimum(self.cumulative[column + 1], start + self.length)
        span = np.maximum(stop - np.maximum(self.cumulative[column], start), 0.0)
        return np.where(self.points[column] == outputs, self.base[column] + (self.ratio - 1) * span, 0.0)

    def cdf(self, y: ArrayLike, start: Floats) -> Floats:
        """The probability of outputs up to ``y``."""
        return self._upto(np.searchsorted(self.points, analysis.require_outputs(y), side="right"), start)

    def _upto(self, count: NDArray[np.intp], start: Floats) -> Floats:
        """The probability of the first ``count`` outputs."""
        reached = self.cumulative[count]
        covered = np.minimum(np.maximum(reached - start, 0.0), self.length)
        return np.where(count >= self.points.size, 1.0, np.minimum(reached + (self.ratio - 1) * covered, 1.0))

    def quantile(self, u: ArrayLike, start: Floats) -> Floats:
        """The least output whose `cdf` reaches ``u``."""
        probabilities, start = np.broadcast_arrays(analysis.require_probabilities(u), start)
        # along the cumulative base the law has slope 1, then ratio on the stretch, then 1 again
        beyond = probabilities - (self.ratio - 1) * self.length
        inside = start + (probabilities - start) / self.ratio
        place = np.where(probabilities <= start, probabilities, np.where(beyond < start + self.length, inside, beyond))
        most = self.points.size - 1
        position = np.minimum(np.searchsorted(self.cumulative[1:], place, side="left"), most)
        # rounding may have moved the place across the end of an output
        position = np.where((position > 0) & (self._upto(position, start) >= probabilities), position - 1, position)
        position = np.where(self._upto(position + 1, start) < probabilities, position + 1, position)
        return np.asarray(self.points[np.minimum(position, most)])

    def expectation(self, x: Floats, start: Floats, costs: Callable[[Floats], Floats]) -> Floats:
        """The expected cost at each input; ``costs`` maps inputs to one more axis, over the outputs."""
        inputs, starts = x.reshape(-1), start.reshape(-1)
        step = max(1, _BLOCK // self.points.size)
        blocks = [slice(k, k + step) for k in range(0, inputs.size, step)]
        parts = [np.sum(self.rows(starts[block]) * costs(inputs[block]), axis=-1) for block in blocks]
        return np.concatenate(parts).reshape(x.shape) if parts else np.empty(x.shape)

    def moment(self, x: Floats, start: Floats, order: int) -> Floats:
        """``E[Y^order]`` at each input."""
        values = self.points ** analysis.require_order(order)
        return self.expectation(x, start, lambda inputs: np.broadcast_to(values, (*inputs.shape, values.size)))


def loss_of(loss: Loss, points: Floats, x: Floats) -> Floats:
    """The losses of all outputs, one more axis than ``x``."""
    return loss(points, x[..., None])
