"""TraCS: locations perturbed by direction and distance (TraCS-D) or coordinate by coordinate (TraCS-C).

Each location is a report of its own, private on its own: whatever two places a person may have been at, any report is
at most ``e^epsilon`` times as likely from the one as from the other. A path of n locations spends ``n epsilon``. How
many locations there are, and when, is not protected.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import reduce
from typing import Protocol, runtime_checkable

import numpy as np

from mechdesign.errors import MAX_EPSILON, InvalidInput, require_epsilon, require_finite, require_number
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.studies.places.coordinates import Maker, coordinate_mechanism
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import (
    Coordinates,
    Disc,
    Globe,
    Parallelogram,
    Point,
    Rectangle,
    Region,
    Star,
    frame_of,
    require_places,
)
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.domains import Circle, Finite, Interval


class Coordinate(Protocol):
    """What decides the privacy of one coordinate: a mechanism, or a table in its place."""

    @property
    def name(self) -> str: ...
    @property
    def epsilon(self) -> float: ...
    @property
    def inputs(self) -> Interval | Circle | Finite: ...
    def likelihood_ratio(self) -> LikelihoodRatio: ...


@runtime_checkable
class Simulable(Coordinate, Protocol):
    """A coordinate that a generator can draw; every `Mechanism` of numbers is one."""

    def sample(self, x: Floats, rng: np.random.Generator) -> Floats: ...
    def quantile(self, u: Floats, x: Floats) -> Floats: ...
    def density(self, y: Floats, x: Floats) -> Floats: ...
    def mass(self, y: Floats, x: Floats) -> Floats: ...


Draw = Callable[[Coordinate, Floats], Floats]
"""Reports of a coordinate for inputs: a simulation's generator, or tables and the system's randomness."""

DIRECTIONS = Circle(2 * math.pi)
SHARES = Interval(0.0, 1.0)
HEURISTIC_SHARE = math.pi / (1 + math.pi)
"""The part of epsilon the chapter gives to the direction."""


class PathMechanism(Protocol):
    """Perturbs paths, location by location."""

    @property
    def name(self) -> str: ...
    @property
    def region(self) -> Region: ...
    @property
    def epsilon(self) -> float:
        """What one location spends."""
        ...

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths: ...


def simulated(rng: np.random.Generator) -> Draw:
    """Reports from a numpy generator: repeatable, and not for data that leave the house."""
    return lambda coordinate, values: simulable(coordinate).sample(values, rng)


def simulable(coordinate: Coordinate) -> Simulable:
    """The coordinate, if it is no table."""
    if isinstance(coordinate, Simulable):
        return coordinate
    raise InvalidInput("mechanism", coordinate.name, "be one that is simulated", "tables draw `from_the_system`")


@frozen
class TracsC:
    """Each coordinate goes through a mechanism of its own (Algorithm 2 with any mechanisms inside).

    *Guarantee.* The coordinates are independent given the place, so likelihood ratios multiply: a location spends
    exactly the sum of the two privacy losses. What leaves the region (only of a polygon) is moved to its nearest place.

    >>> tracs = tracs_c(Rectangle(0, 1, 0, 1), 4.0)
    >>> round(tracs.privacy_loss(), 12)
    4.0
    """

    region: Region
    first: Coordinate
    second: Coordinate
    name: str = "TraCS-C"

    @property
    def epsilon(self) -> float:
        return self.first.epsilon + self.second.epsilon

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self.first.likelihood_ratio().times(self.second.likelihood_ratio())

    def privacy_loss(self) -> float:
        """The epsilon a location really spends."""
        return self.likelihood_ratio().loss

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        """Paths of reports, for simulation."""
        places = require_places(self.region, paths.places)
        return paths.replaced(self.reports(places, simulated(rng)))

    def reports(self, places: Floats, draw: Draw) -> Floats:
        """A report of each place inside the region."""
        frame = coordinates_of(self.region)
        first, second = frame.to_parts(places)
        return self.region.nearest(frame.from_parts(draw(self.first, first), draw(self.second, second)))

    def likelihood(self, reports: Floats, places: Floats) -> Floats:
        """How likely each pair of coordinates is from each place, by densities or, where they are points, by masses."""
        frame = coordinates_of(self.region)
        values = zip((self.first, self.second), frame.to_parts(reports), frame.to_parts(places), strict=True)
        return reduce(np.multiply, (_likelihood(mechanism, y, x) for mechanism, y, x in values))


@frozen
class TracsD:
    """The direction from a public reference, then the share of the way to the boundary (Algorithm 1, any mechanisms).

    The reference of a path's first location is ``start``; later ones are the report before (``follow``), or ``start``
    again. A place that *is* the reference has no direction: it is taken as direction 0 and share 0.

    *Guarantee.* Given the reference, direction and share are functions of the place, and each goes through its own
    mechanism: likelihood ratios multiply, and a location spends exactly the sum of the two privacy losses. References
    are public or reports already made, so this holds at every step.

    >>> tracs = tracs_d(Rectangle(0, 1, 0, 1), 4.0)
    >>> round(tracs.privacy_loss(), 12), tracs.start
    (4.0, (0.5, 0.5))
    """

    region: Region
    direction: Coordinate
    distance: Coordinate
    start: Point
    follow: bool = True
    name: str = "TraCS-D"

    def __attrs_post_init__(self) -> None:
        if self.direction.inputs != DIRECTIONS or self.distance.inputs != SHARES:
            rule = f"take directions in {DIRECTIONS} and shares in {SHARES}"
            raise InvalidInput("mechanism", (self.direction.name, self.distance.name), rule)
        _star_of(self.region)
        require_places(frame_of(self.region), [self.start], "start")

    @property
    def epsilon(self) -> float:
        return self.direction.epsilon + self.distance.epsilon

    def likelihood_ratio(self) -> LikelihoodRatio:
        return self.direction.likelihood_ratio().times(self.distance.likelihood_ratio())

    def privacy_loss(self) -> float:
        """The epsilon a location really spends."""
        return self.likelihood_ratio().loss

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        """Paths of reports, for simulation: one step of all paths at a time."""
        places, draw = require_places(self.region, paths.places), simulated(rng)
        result = np.empty_like(places)
        if not self.follow:
            result[:] = self.reports(places, np.broadcast_to(self.start, places.shape), draw)
        for step, rows in enumerate(paths.steps() if self.follow else ()):
            references = result[rows - 1] if step else np.broadcast_to(self.start, (len(rows), 2))
            result[rows] = self.reports(places[rows], references, draw)
        return paths.replaced(self.region.nearest(result))

    def reports(self, places: Floats, references: Floats, draw: Draw) -> Floats:
        """A report of each place, seen from its reference. Those of a polygon may lie in its frame, outside it."""
        angles, shares = self.seen_from(references, places)
        return self.place(references, draw(self.direction, angles), draw(self.distance, shares))

    def seen_from(self, references: Floats, places: Floats) -> tuple[Floats, Floats]:
        """Direction and share of the way to the boundary of each place."""
        offset = places - references
        angles = np.arctan2(offset[:, 1], offset[:, 0])  # of no offset: 0
        return DIRECTIONS.reduce(angles), _star_of(self.region).shares(references, places)

    def place(self, references: Floats, angles: Floats, shares: Floats) -> Floats:
        """Where a direction and a share lead; past the boundary only by a rounding, which is taken back."""
        vectors = np.column_stack([np.cos(angles), np.sin(angles)])
        frame = _star_of(self.region)
        return frame.nearest(references + (shares * frame.reach(references, vectors))[:, None] * vectors)

    def likelihood(self, angles: Floats, shares: Floats, references: Floats, places: Floats) -> Floats:
        """How likely a reported direction and share are from each place."""
        true_angles, true_shares = self.seen_from(references, places)
        of_angle = _likelihood(self.direction, angles, true_angles)
        return np.asarray(of_angle * _likelihood(self.distance, shares, true_shares))


def tracs_c(region: Region, epsilon: float, mechanism: str | Maker = "ogpm") -> TracsC:
    """TraCS-C with half of epsilon a coordinate, and the named mechanism (`COORDINATES`) or one of your own inside."""
    half = require_epsilon(epsilon) / 2
    parts = coordinates_of(region).parts
    first, second = (coordinate_mechanism(mechanism, half, part) for part in parts)
    return TracsC(region, first, second, _named("TraCS-C", mechanism))


def tracs_d(
    region: Region,
    epsilon: float,
    mechanism: str | Maker = "ogpm",
    *,
    share: float = HEURISTIC_SHARE,
    start: Point | None = None,
    follow: bool = True,
) -> TracsD:
    """TraCS-D with the ``share`` of epsilon for the direction; it starts at the centre unless told otherwise.

    The chapter starts at the corner (0, 0). From there three quarters of all directions lead out and nowhere:
    51% of first reports are the corner itself at eps = 2.
    """
    epsilon = require_epsilon(epsilon)
    part = require_number(share, "share")
    if not 0 < part < 1:
        raise InvalidInput("share", share, "be between 0 and 1", "it is the part of epsilon for the direction")
    _star_of(region)
    toward = coordinate_mechanism(mechanism, part * epsilon, DIRECTIONS)
    away = coordinate_mechanism(mechanism, (1 - part) * epsilon, SHARES)
    origin = region.centre if start is None else start
    return TracsD(region, toward, away, origin, follow, _named("TraCS-D", mechanism))


def perturb_whole_paths(
    paths: Paths, total: float, make: Callable[[float], PathMechanism], rng: np.random.Generator
) -> Paths:
    """Every path spends at most ``total`` in all: its locations share it equally (`share_of_location`).

    How much a location gets depends on the length of its path, which is public here.

    >>> square = Rectangle(0, 1, 0, 1)
    >>> paths = Paths.of([[[0.5, 0.5]] * 4, [[0.1, 0.1]]])
    >>> len(perturb_whole_paths(paths, 4.0, lambda eps: tracs_c(square, eps), np.random.default_rng(1)).places)
    5
    """
    result = np.empty_like(paths.places)
    for length in np.unique(paths.lengths).tolist():
        which = np.flatnonzero(paths.lengths == length)
        rows = (paths.starts[which][:, None] + np.arange(length)).ravel()
        some = Paths(paths.places[rows], np.arange(len(which) + 1) * length)
        result[rows] = make(share_of_location(total, length)).perturb(some, rng).places
    return paths.replaced(result)


def share_of_location(total: float, length: int, most: float = MAX_EPSILON) -> float:
    """What each of ``length`` locations may spend of a path's total, and never more than ``most``.

    A short path may spend less than its total so: where a location is told almost exactly, more is of no use.

    >>> share_of_location(100.0, 50), share_of_location(100.0, 1)
    (2.0, 64.0)
    """
    return require_epsilon(min(require_total(total) / length, most), "eps of one location")


def require_total(total: float) -> float:
    """The epsilon of a whole path: any finite number above 0, as a path may be long."""
    number = require_finite(total, "eps")
    if not number > 0:
        raise InvalidInput("eps", number, "be above 0", "pass for example eps=40")
    return number


def coordinates_of(region: Region) -> Coordinates:
    frame = frame_of(region)
    if isinstance(frame, Rectangle | Parallelogram | Globe):
        return frame
    raise InvalidInput("region", str(region), "be a product of two coordinates for TraCS-C", "take TraCS-D for discs")


def _star_of(region: Region) -> Star:
    frame = frame_of(region)
    if isinstance(frame, Rectangle | Parallelogram | Disc):
        return frame
    step = "take TraCS-C, which perturbs longitude and latitude, or project to the plane first"
    raise InvalidInput("region", str(region), "be a part of the plane for TraCS-D", step)


def _likelihood(coordinate: Coordinate, y: Floats, x: Floats) -> Floats:
    """Density and mass together: a report is a point of mass for every input or for none."""
    mechanism = simulable(coordinate)
    mass = mechanism.mass(y, x)
    return np.asarray(np.where(mass > 0, mass, mechanism.density(y, x)))


def _named(method: str, mechanism: str | Maker) -> str:
    if mechanism == "ogpm":
        return method
    return f"{method} ({mechanism if isinstance(mechanism, str) else 'own'})"
