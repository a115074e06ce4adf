"""Two or three numbers of each person as a place on a grid: rounding to it, reports, and the estimated means."""

from __future__ import annotations

import numpy as np

from mechdesign.intervals import normal_quantile
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.studies.frequencies.mean import EstimatedMean
from mechdesign.studies.frequencies.sign_reports import Respond, Uniforms, means_about
from mechdesign.values.declare import Counts, Floats, array, frozen
from mechdesign.words.domains import Interval


@frozen
class GridCollection:
    """Each number is rounded without bias to one of so many levels of its range, and their place on the grid is sent.

    A person sends one report of ``channel``; row o of ``estimates`` is what report o says of each number, in units of
    half its range from its middle, without bias at every place and so at every value.

    >>> from mechdesign.words.domains import Finite
    >>> items = Finite(range(9))
    >>> channel = Discrete(np.log(3), items, items, np.where(np.eye(9) == 1, 3 / 11, 1 / 11))
    >>> places = np.array([[first, second] for first in (-1, 0, 1) for second in (-1, 0, 1)])
    >>> asked = GridCollection(3, channel, 5.5 * places, (Interval(0, 10), Interval(-1, 1)))
    >>> asked.moments.round(2).tolist()[4], asked.places(np.array([[10.0, 0.0]]), np.array([0.5, 0.5])).tolist()
    ([16.5, 16.5], [7])
    """

    levels: int
    channel: Discrete
    estimates: Floats = array()
    sides: tuple[Interval, ...]

    @property
    def drawn(self) -> int:
        """All numbers of a person are in the report."""
        return len(self.sides)

    @property
    def shares(self) -> Floats:
        return np.ones(len(self.sides))

    @property
    def halves(self) -> Floats:
        return np.array([side.length / 2 for side in self.sides])

    @property
    def middles(self) -> Floats:
        return np.array([side.middle for side in self.sides])

    @property
    def moments(self) -> Floats:
        """``E[Y_j^2]`` of each number at each place, in units of half its range; between places it is an average."""
        law = self.channel.probabilities
        return np.asarray(law / law.sum(axis=1, keepdims=True) @ self.estimates**2)

    def places(self, values: Floats, uniforms: Floats) -> Counts:
        """The number of each person's place on the grid; a uniform number for each value decides up or down."""
        steps = ((values - self.middles) / self.halves + 1) * (self.levels - 1) / 2
        low = np.clip(np.floor(steps), 0, self.levels - 2)
        cells = (low + (uniforms.reshape(values.shape) < steps - low)).astype(np.int64)
        return np.asarray(np.ravel_multi_index(tuple(cells.T), (self.levels,) * len(self.sides)))

    def reports(self, values: Floats, uniforms: Uniforms, respond: Respond) -> Floats:
        """A row a person, of one report."""
        return np.asarray(respond(self.places(values, uniforms(values.size))), dtype=np.float64)[:, None]

    def means(self, reports: Floats | Counts, confidence: float) -> list[EstimatedMean]:
        """The mean of each number from such rows, with its interval."""
        counts = np.bincount(reports[:, 0].astype(np.int64), minlength=len(self.estimates))
        users, said = len(reports), self.halves * self.estimates
        averages = counts @ said / users
        variances = np.maximum(counts @ said**2 / users - averages**2, 0.0)
        return means_about(self.middles, averages, variances, abs(said).max(axis=0), users, confidence)

    def reach(self, users: int, confidence: float) -> Floats:
        """Half the length of the interval of each mean, at most, up to terms of order ``1 / users``."""
        return np.asarray(normal_quantile(confidence) * self.halves * np.sqrt(self.moments.max(axis=0) / users))
