"""ATP as the code published with the chapter samples it, to explain its printed errors; `ATP` is the one to use.

What differs, all in the direction of less error:

* the sectors are centred on the *true* direction, so the law of a report has no bound over the true places that hold
  for sectors known beforehand; a sector is left with the chance ``1 / (5 + e^eps)``, a fifth of k-RR's;
* the exponential mechanism divides by how far apart the scores of *this* input are, among the points that are left;
* the last location of every path of two or more stays as it is in one of the two copies. The report is a point nearest
  to both copies, so some places rule out reports that others allow: the loss is infinite.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign.studies.places.discrete_rivals import (
    SECTORS,
    Mask,
    Places,
    Points,
    between_copies,
    blocks,
    cumulative_rows,
    draw_rows,
)
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Region
from mechdesign.values.declare import Floats, epsilon, frozen

_TURN = 2 * math.pi
_TOUCHING = 1e-9  # sectors are closed, and right angles of a grid lie on their borders


@frozen
class PublishedATP:
    """Two copies of a path, half of a location's epsilon each, of which the point nearest to both is reported.

    In copy ``parity`` the locations of that parity (and the very first) are drawn from all points. The others but the
    last are drawn from those in two sectors told by k-RR, with 3/16 of the epsilon each, and 1/8 of it for the point.
    """

    points: Points
    epsilon: float = epsilon()
    name: str = "ATP (published)"

    @property
    def region(self) -> Region:
        return self.points.region

    def privacy_loss(self) -> float:
        """Infinite: of the last location one copy is the truth."""
        return math.inf

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        inputs = self.points.of(paths.places)
        first, second = (self.copy(paths, inputs, parity, rng) for parity in (1, 0))
        return paths.replaced(self.points.table[between_copies(self.points, first, second)])

    def copy(self, paths: Paths, inputs: Places, parity: int, rng: np.random.Generator) -> Places:
        """One copy: the numbers of its points."""
        order = np.arange(len(inputs)) - np.repeat(paths.starts[:-1], paths.lengths)
        last = order == np.repeat(paths.lengths, paths.lengths) - 1
        alone = order % 2 == parity
        result = inputs.copy()
        self._draw_all(result, np.flatnonzero(alone), rng)
        between = np.flatnonzero(~alone & (order > 0) & ~last)
        for some in blocks(len(between)):
            rows = between[some]
            seen = [self._seen(result[rows + side], inputs[rows], rng) for side in (-1, 1)]
            left = seen[0] & seen[1]
            left[~left.any(axis=1)] = True  # no point lies in both: all of them do
            result[rows] = self._draw(inputs[rows], left, self.epsilon / 8, rng)
        self._draw_all(result, np.flatnonzero((order == 0) & ~alone), rng)
        self._draw_all(result, np.flatnonzero(last & alone), rng)  # a second time
        return result

    def _draw_all(self, result: Places, rows: Places, rng: np.random.Generator) -> None:
        """Replace these places of a copy by draws from all points."""
        for some in blocks(len(rows)):
            here = result[rows[some]]
            result[rows[some]] = self._draw(
                here, np.ones((len(here), len(self.points.table)), bool), self.epsilon / 2, rng
            )

    def _draw(self, inputs: Places, left: Mask, epsilon: float, rng: np.random.Generator) -> Places:
        return draw_rows(cumulative_rows(self.weights(inputs, left, epsilon)), rng)

    def weights(self, inputs: Places, left: Mask, epsilon: float) -> Floats:
        """``e^(-epsilon d / (2 D))`` of the points that are left, D being the range of their distances d."""
        distances = self.points.distances[inputs]
        most = np.where(left, distances, -math.inf).max(axis=1, keepdims=True)
        least = np.where(left, distances, math.inf).min(axis=1, keepdims=True)
        scale = np.where(most > least, most - least, 1.0)
        return np.where(left, np.exp(-epsilon / 2 * (distances - least) / scale), 0.0)

    def _seen(self, origins: Places, inputs: Places, rng: np.random.Generator) -> Mask:
        """Which points lie in the sector told from each origin, turned away from the true direction by k-RR."""
        leave = 1 / (SECTORS - 1 + math.exp(self.epsilon * 3 / 16))
        turned = np.where(rng.random(len(origins)) < leave, 1 + rng.integers(0, SECTORS, len(origins)), 0)
        return self.in_sector(origins, inputs, turned)

    def in_sector(self, origins: Places, inputs: Places, turned: Places) -> Mask:
        """Which points lie within half a sector of the true direction, turned by so many sectors; k turns are none."""
        true = self._angles(origins, self.points.table[inputs][:, None])
        away = self._angles(origins, self.points.table[None]) - true - turned[:, None] * _TURN / SECTORS
        return np.asarray(np.abs((away + math.pi) % _TURN - math.pi) <= math.pi / SECTORS + _TOUCHING)

    def _angles(self, origins: Places, places: Floats) -> Floats:
        offset = places - self.points.table[origins][:, None]
        return np.asarray(np.arctan2(offset[..., 1], offset[..., 0]))
