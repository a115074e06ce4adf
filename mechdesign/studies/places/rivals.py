"""What TraCS is compared with in continuous space: planar Laplace noise, and sectors with k-RR.

Every rival here spends the epsilon it says. `published_sectors` is the law that the chapter's published code samples.
"""

from __future__ import annotations

import math

import numpy as np

from mechdesign.errors import require_epsilon, require_whole
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.studies.places.coordinates import Maker, coordinate_mechanism
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Point, Region, frame_of, require_places
from mechdesign.studies.places.tracs import DIRECTIONS, HEURISTIC_SHARE, SHARES, TracsD
from mechdesign.values.declare import Floats, epsilon, frozen
from mechdesign.words.domains import Circle, Finite


@frozen
class PlanarLaplace:
    """Noise of density ``(e/2 pi) e^(-rate r)``, reports outside moved to the nearest place inside (definition 23).

    *Guarantee.* With ``rate = epsilon / diameter`` densities from two places differ by at most ``e^epsilon``, as their
    distances to a report differ by at most the diameter.

    >>> from mechdesign.studies.places.regions import Rectangle
    >>> round(PlanarLaplace(Rectangle(0, 3, 0, 4), 1.0).rate, 12)
    0.2
    """

    region: Region
    epsilon: float = epsilon()
    name: str = "T-Laplace"

    @property
    def rate(self) -> float:
        return self.epsilon / self.region.diameter

    def privacy_loss(self) -> float:
        return self.epsilon

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        places = require_places(self.region, paths.places)
        distance = rng.gamma(2.0, 1 / self.rate, len(places))
        angle = rng.uniform(0.0, 2 * math.pi, len(places))
        noise = distance[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
        return paths.replaced(self.region.nearest(places + noise))


@frozen
class Sectors:
    """A direction as one of k equal sectors by a table, then uniform inside the sector drawn: a `Simulable`."""

    table: Discrete
    name: str

    @property
    def inputs(self) -> Circle:
        return DIRECTIONS

    @property
    def epsilon(self) -> float:
        return self.table.epsilon

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self.table.likelihood_ratio()

    def privacy_loss(self) -> float:
        return self.table.privacy_loss()

    def sample(self, x: Floats, rng: np.random.Generator) -> Floats:
        drawn = self.table.sample(self._sector(x), rng)
        return DIRECTIONS.reduce((drawn + rng.random(drawn.shape)) * self._width)

    def quantile(self, u: Floats, x: Floats) -> Floats:
        rows = self.table.probabilities[self._sector(x).astype(np.intp)]
        below = np.cumsum(rows, axis=-1) - rows
        sector = (below <= np.asarray(u)[..., None]).sum(axis=-1) - 1
        start, chance = (np.take_along_axis(values, sector[..., None], -1)[..., 0] for values in (below, rows))
        return np.asarray((sector + np.minimum((u - start) / chance, 1.0)) * self._width)

    def mass(self, y: Floats, x: Floats) -> Floats:
        return np.zeros(np.broadcast(y, x).shape)

    def density(self, y: Floats, x: Floats) -> Floats:
        return self.table.mass(self._sector(y), self._sector(x)) / self._width

    @property
    def _width(self) -> float:
        return DIRECTIONS.period / len(self.table.inputs)

    def _sector(self, angles: Floats) -> Floats:
        return np.minimum(np.floor(DIRECTIONS.reduce(angles) / self._width), len(self.table.inputs) - 1)


def strawman(
    region: Region,
    epsilon: float,
    sectors: int = 6,
    mechanism: str | Maker = "ogpm",
    *,
    start: Point | None = None,
) -> TracsD:
    """TraCS-D with k-RR over sectors for the direction: the chapter's strawman, with a k-RR that spends its epsilon.

    >>> from mechdesign.studies.places.regions import Rectangle
    >>> round(strawman(Rectangle(0, 1, 0, 1), 4.0).privacy_loss(), 12)
    4.0
    """
    epsilon = require_epsilon(epsilon)
    table = catalogue.randomised_response(HEURISTIC_SHARE * epsilon, sector_numbers(sectors))
    return _with_sectors(region, epsilon, table, mechanism, start, f"{sectors}-RR sectors")


def published_strawman(
    region: Region,
    epsilon: float,
    sectors: int = 6,
    mechanism: str | Maker = "ogpm",
    *,
    start: Point | None = None,
) -> TracsD:
    """The strawman as the published code samples it: see `published_sectors`. It spends more than ``epsilon``."""
    epsilon = require_epsilon(epsilon)
    table = published_sectors(HEURISTIC_SHARE * epsilon, sectors)
    return _with_sectors(region, epsilon, table, mechanism, start, f"{sectors}-RR sectors (published)")


def published_sectors(epsilon: float, sectors: int) -> Discrete:
    """The law of sectors in the published code.

    It keeps the sector unless a number falls below ``1 / (k - 1 + e^eps)``, where k-RR keeps it unless one falls below
    ``(k - 1) / (k - 1 + e^eps)``, and then draws from k other numbers of which the last means the first sector again.

    >>> round(published_sectors(2.0, 6).privacy_loss(), 2)
    4.22
    """
    count, numbers = require_whole(sectors, "sectors", 2), sector_numbers(sectors)
    leave = 1 / (count - 1 + math.exp(require_epsilon(epsilon)))
    rows = np.full((count, count), leave / count)
    rows[:, 0] += leave / count  # the number k is the sector of 0
    np.fill_diagonal(rows, 1 - leave)
    rows[0, 0] += leave / count
    return Discrete(64.0, numbers, numbers, rows, "published k-RR")


def sector_numbers(sectors: int) -> Finite:
    """The sectors as a domain."""
    return Finite(tuple(range(require_whole(sectors, "sectors", 2, 720))))


def _with_sectors(
    region: Region, epsilon: float, table: Discrete, mechanism: str | Maker, start: Point | None, name: str
) -> TracsD:
    away = coordinate_mechanism(mechanism, (1 - HEURISTIC_SHARE) * epsilon, SHARES)
    origin = frame_of(region).centre if start is None else start
    return TracsD(region, Sectors(table, table.name), away, origin, True, name)
