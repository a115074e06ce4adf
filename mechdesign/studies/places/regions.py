"""Regions of the plane and the sphere: who is inside, how far it is to the boundary, which coordinates there are.

Distances along a ray are measured from a *reference* inside the region. They are the lengths of `TracsD`, and every
edge case of a rectangle is decided here: a reference on a side or in a corner, a ray along a side, no distance at all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidData, InvalidInput, require_finite
from mechdesign.values.declare import Floats, field, finite, frozen
from mechdesign.words.domains import Circle, Interval

Point = tuple[float, float]
Bounds = tuple[float, float, float, float]
Mask = NDArray[np.bool_]

_ROUNDING = 1e-12  # of the size of a region: what rounding can move a place on a slanted side
_THINNEST = 1e-9  # of the square of its longer side: the least area of a parallelogram


class Region(Protocol):
    """A set of places with the distance between them."""

    @property
    def bounds(self) -> Bounds:
        """West, east, south, north of the smallest upright rectangle around it."""
        ...

    @property
    def centre(self) -> Point: ...
    @property
    def diameter(self) -> float:
        """The largest distance between two of its places."""
        ...

    def contains(self, places: Floats) -> Mask: ...
    def nearest(self, places: Floats) -> Floats:
        """The nearest place inside, for each place of the plane."""
        ...


class Star(Region, Protocol):
    """A convex region, in which every place is seen from every reference: what `TracsD` needs."""

    def reach(self, references: Floats, directions: Floats) -> Floats:
        """How far it is from each reference to the boundary along each unit vector."""
        ...

    def shares(self, references: Floats, places: Floats) -> Floats:
        """How much of the way from its reference to the boundary each place has gone, between 0 and 1."""
        ...


class Coordinates(Protocol):
    """A region that is a product of two domains: what `TracsC` needs."""

    @property
    def parts(self) -> tuple[Interval | Circle, Interval | Circle]: ...
    def to_parts(self, places: Floats) -> tuple[Floats, Floats]: ...
    def from_parts(self, first: Floats, second: Floats) -> Floats: ...


def require_places(region: Region, places: ArrayLike, field: str = "locations", before: int = 0) -> Floats:
    """Places as rows of two finite numbers inside the region, or an `InvalidData` that names the first bad row.

    Where people have been is theirs: errors name the row (after ``before`` others) and the rule, never the place.

    >>> require_places(Rectangle(0, 1, 0, 1), [[0.5, 2.0]])
    Traceback (most recent call last):
    mechdesign.errors.InvalidData: locations, data row 1, must lie in [0, 1] x [0, 1]; correct such rows, widen the \
bounds, or move such places to the nearest one inside first (--project)
    """
    table = require_rows(places, field, before)
    inside = region.contains(table)
    if not inside.all():
        exchanged = region.contains(table[~inside][:, ::-1]).all()
        raise _bad_row(field, table, inside, f"lie in {region}", _EXCHANGED if exchanged else _OUTSIDE, before)
    return table


def moved_inside(region: Region, places: ArrayLike, field: str = "locations", before: int = 0) -> Floats:
    """Places as rows of two finite numbers, those outside moved to the nearest place of the region.

    Exchanged coordinates would all end in one corner: where the region and its mirror image have nothing in common,
    and every place lies in the mirror image, the first row is an `InvalidData`.
    """
    table = require_rows(places, field, before)
    west, east, south, north = region.bounds
    apart = max(west, south) > min(east, north)
    if apart and len(table) and region.contains(table[:, ::-1]).all():
        raise _bad_row(field, table, np.zeros(len(table), dtype=bool), f"lie in {region}", _EXCHANGED, before)
    return region.nearest(table)


def require_rows(places: ArrayLike, field: str = "locations", before: int = 0) -> Floats:
    """Rows of two finite numbers, or an `InvalidData` that names the first row that is not."""
    try:
        table = np.asarray(places, dtype=np.float64)
    except (TypeError, ValueError):
        raise InvalidData(field, None, "be rows of two numbers") from None
    if table.ndim != 2 or table.shape[1] != 2:
        raise InvalidInput(field, Shape(table.shape), "be rows of two coordinates")
    finite: Mask = np.asarray(np.isfinite(table).all(axis=1))
    if not finite.all():
        raise _bad_row(field, table, finite, "hold two finite numbers", "drop or fill it", before)
    return table


class Shape(tuple[int, ...]):
    """The shape of an array, which is no datum of a person."""

    __slots__ = ()


_EXCHANGED = "are the coordinates exchanged? x comes before y, longitude before latitude"
_OUTSIDE = "correct such rows, widen the bounds, or move such places to the nearest one inside first (--project)"


def _bad_row(field: str, table: Floats, good: Mask, rule: str, step: str, before: int) -> InvalidData:
    row = int(np.argmin(good))
    return InvalidData(f"{field}, data row {before + row + 1},", tuple(table[row].tolist()), rule, step)


def _point(values: Sequence[float], field: str) -> Point:
    if isinstance(values, str) or len(values) != 2:
        raise InvalidInput(field, values, "be two numbers x, y")
    return require_finite(values[0], field), require_finite(values[1], field)


def _require_side(low: float, high: float, first: str, second: str) -> None:
    if not low < high:
        step = "bounds are WEST,EAST,SOUTH,NORTH and must enclose an area"
        raise InvalidInput("bounds", (low, high), f"have {first} below {second}", step)
    Interval(low, high)  # refuses sides that doubles cannot divide


@frozen
class Rectangle:
    """The places from ``west`` to ``east`` and from ``south`` to ``north``, the sides included.

    >>> str(Rectangle(0, 2, 0, 10)), Rectangle(0, 2, 0, 10).centre
    ('[0, 2] x [0, 10]', (1.0, 5.0))
    """

    west: float = finite("west")
    east: float = finite("east")
    south: float = finite("south")
    north: float = finite("north")

    def __attrs_post_init__(self) -> None:
        _require_side(self.west, self.east, "west", "east")
        _require_side(self.south, self.north, "south", "north")

    @property
    def bounds(self) -> Bounds:
        return self.west, self.east, self.south, self.north

    @property
    def centre(self) -> Point:
        return Interval(self.west, self.east).middle, Interval(self.south, self.north).middle

    @property
    def diameter(self) -> float:
        return math.hypot(self.east - self.west, self.north - self.south)

    @property
    def parts(self) -> tuple[Interval, Interval]:
        return Interval(self.west, self.east), Interval(self.south, self.north)

    def to_parts(self, places: Floats) -> tuple[Floats, Floats]:
        return places[:, 0], places[:, 1]

    def from_parts(self, first: Floats, second: Floats) -> Floats:
        return np.column_stack([first, second])

    def contains(self, places: Floats) -> Mask:
        x, y = places[:, 0], places[:, 1]
        return np.asarray((x >= self.west) & (x <= self.east) & (y >= self.south) & (y <= self.north))

    def nearest(self, places: Floats) -> Floats:
        return np.column_stack(
            [np.clip(places[:, 0], self.west, self.east), np.clip(places[:, 1], self.south, self.north)]
        )

    def reach(self, references: Floats, directions: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self._gone(references, directions))

    def shares(self, references: Floats, places: Floats) -> Floats:
        return self._gone(references, places - references)

    def _gone(self, references: Floats, vectors: Floats) -> Floats:
        """A vector's share of the way to the boundary: the larger of its shares of the room in x and in y.

        Subtraction rounds monotonically, so the vector to a place inside is never longer than the room: no share is
        above 1. Where there is no room there is no such vector, and a direction that leads out has an infinite share.
        """
        room = np.where(vectors >= 0, [self.east, self.north] - references, references - [self.west, self.south])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(vectors == 0, 0.0, np.abs(vectors) / room)
        return np.asarray(shares.max(axis=1))

    def __str__(self) -> str:
        return f"[{self.west:.10g}, {self.east:.10g}] x [{self.south:.10g}, {self.north:.10g}]"


_SQUARE = Rectangle(0.0, 1.0, 0.0, 1.0)


@frozen
class Parallelogram:
    """The places ``corner + s first + t second`` with s and t between 0 and 1: a linear picture of the unit square.

    Shares of the way to the boundary do not change under linear maps, so the square decides them.

    >>> Parallelogram((0, 0), (2, 0), (1, 1)).nearest(np.array([[3.0, -1.0]])).tolist()
    [[2.0, 0.0]]
    """

    corner: Point = field(converter=lambda said: _point(said, "corner"))
    first: Point = field(converter=lambda said: _point(said, "first"))
    second: Point = field(converter=lambda said: _point(said, "second"))

    def __attrs_post_init__(self) -> None:
        area = self.first[0] * self.second[1] - self.first[1] * self.second[0]
        longest = max(math.hypot(*self.first), math.hypot(*self.second))
        if not (math.isfinite(longest) and abs(area) > _THINNEST * longest**2):
            step = "two different directions, neither of length 0"
            raise InvalidInput("region", (self.first, self.second), "have sides that span an area", step)

    @property
    def bounds(self) -> Bounds:
        return _bounds(self._ring)

    @property
    def centre(self) -> Point:
        (x, y), (a, b), (c, d) = self.corner, self.first, self.second
        return x + (a + c) / 2, y + (b + d) / 2

    @property
    def diameter(self) -> float:
        (a, b), (c, d) = self.first, self.second
        return max(math.hypot(a + c, b + d), math.hypot(a - c, b - d))

    @property
    def parts(self) -> tuple[Interval, Interval]:
        return _SQUARE.parts

    def to_parts(self, places: Floats) -> tuple[Floats, Floats]:
        unit = self._unit(places)
        return unit[:, 0], unit[:, 1]

    def from_parts(self, first: Floats, second: Floats) -> Floats:
        return np.asarray(np.array(self.corner) + np.outer(first, self.first) + np.outer(second, self.second))

    def contains(self, places: Floats) -> Mask:
        unit = self._turned(places - np.array(self.corner))
        return np.asarray((np.abs(unit - 0.5) <= 0.5 + _ROUNDING).all(axis=1))

    def nearest(self, places: Floats) -> Floats:
        return _nearest_on(self._ring, places, self.contains(places))

    def reach(self, references: Floats, directions: Floats) -> Floats:
        return _SQUARE.reach(self._unit(references), self._turned(directions))

    def shares(self, references: Floats, places: Floats) -> Floats:
        return _SQUARE.shares(self._unit(references), self._unit(places))

    def _unit(self, places: Floats) -> Floats:
        """Places inside, in the square: those on a slanted side come back to it from a rounding beside it."""
        return _SQUARE.nearest(self._turned(places - np.array(self.corner)))

    def _turned(self, vectors: Floats) -> Floats:
        return np.asarray(vectors @ self._inverse)

    @cached_property
    def _ring(self) -> Floats:
        return self.from_parts(np.array([0.0, 1.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0]))

    @cached_property
    def _inverse(self) -> Floats:
        return np.linalg.inv(np.array([self.first, self.second]))

    def __str__(self) -> str:
        corner, first, second = ("({:.6g}, {:.6g})".format(*pair) for pair in (self.corner, self.first, self.second))
        return f"the parallelogram at {corner} with sides {first} and {second}"


@frozen
class Disc:
    """The places within ``radius`` of a centre, as of a radar.

    >>> Disc((0, 0), 2).reach(np.array([[1.0, 0.0]]), np.array([[1.0, 0.0]])).tolist()
    [1.0]
    """

    centre: Point = field(converter=lambda said: _point(said, "centre"))
    radius: float = finite("radius")

    def __attrs_post_init__(self) -> None:
        if not self.radius > 0:
            raise InvalidInput("radius", self.radius, "be above 0")

    @property
    def bounds(self) -> Bounds:
        x, y = self.centre
        return x - self.radius, x + self.radius, y - self.radius, y + self.radius

    @property
    def diameter(self) -> float:
        return 2 * self.radius

    def contains(self, places: Floats) -> Mask:
        return np.asarray(np.hypot(*(places - self.centre).T) <= self.radius * (1 + _ROUNDING))

    def nearest(self, places: Floats) -> Floats:
        offset = places - self.centre
        distance = np.hypot(*offset.T)
        scale = np.where(distance > self.radius, self.radius / np.maximum(distance, self.radius), 1.0)
        return np.asarray(self.centre + offset * scale[:, None])

    def reach(self, references: Floats, directions: Floats) -> Floats:
        offset = references - self.centre
        along = (offset * directions).sum(axis=1)
        inside = np.maximum(self.radius**2 - (offset**2).sum(axis=1), 0.0)
        root = np.sqrt(along**2 + inside)
        # two forms of one root: the one without cancellation
        ahead = inside / np.maximum(root + along, np.finfo(float).tiny)
        return np.asarray(np.where(along <= 0, root - along, ahead))

    def shares(self, references: Floats, places: Floats) -> Floats:
        vectors = places - references
        distance = np.hypot(*vectors.T)
        away = np.maximum(distance, np.finfo(float).tiny)
        reach = self.reach(references, vectors / away[:, None])
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = np.where(distance == 0, 0.0, distance / reach)
        return np.minimum(shares, 1.0)  # a place on the rim may pass it by a rounding

    def __str__(self) -> str:
        return f"the disc of radius {self.radius:.6g} around ({self.centre[0]:.6g}, {self.centre[1]:.6g})"


def _ring_of(said: Sequence[Sequence[float]]) -> tuple[Point, ...]:
    corners = tuple(_point(corner, "corner") for corner in said)
    if len(corners) > 1 and corners[0] == corners[-1]:  # closed, as GeoJSON writes rings
        corners = corners[:-1]
    if len(set(corners)) < 3 or len(set(corners)) < len(corners):
        raise InvalidInput("polygon", len(corners), "have at least three different corners, each once")
    (x, y), (u, v) = np.array(corners).T, np.roll(np.array(corners), -1, axis=0).T
    if not abs(float((x * v - u * y).sum())) > 0:
        raise InvalidInput("polygon", len(corners), "enclose an area")
    if _crosses_itself(np.array(corners)):
        raise InvalidInput("polygon", len(corners), "have sides that do not cross", "list the corners in order")
    return corners


@frozen
class Polygon:
    """The places inside a simple polygon. Its mechanisms work on its bounding rectangle, and what falls outside is
    moved to the nearest place inside: the shape is public, so this costs no privacy.

    >>> Polygon(((0, 0), (2, 0), (0, 2))).nearest(np.array([[2.0, 2.0], [0.5, 0.5]])).tolist()
    [[1.0, 1.0], [0.5, 0.5]]
    """

    corners: tuple[Point, ...] = field(converter=_ring_of)

    @cached_property
    def frame(self) -> Rectangle:
        """The bounding rectangle."""
        return Rectangle(*self.bounds)

    @property
    def bounds(self) -> Bounds:
        return _bounds(np.array(self.corners))

    @property
    def centre(self) -> Point:
        """The place inside that is nearest to the middle of the bounding rectangle."""
        x, y = self.nearest(np.array([self.frame.centre]))[0].tolist()
        return x, y

    @property
    def diameter(self) -> float:
        corners = np.array(self.corners)
        return float(np.hypot(*(corners[:, None] - corners).T).max())

    def contains(self, places: Floats) -> Mask:
        start = np.array(self.corners)
        stop = np.roll(start, -1, axis=0)
        x, y = places[:, :1], places[:, 1:]
        above = (start[:, 1] > y) != (stop[:, 1] > y)
        with np.errstate(divide="ignore", invalid="ignore"):
            crossing = start[:, 0] + (y - start[:, 1]) / (stop[:, 1] - start[:, 1]) * (stop[:, 0] - start[:, 0])
        inside = (above & (x < crossing)).sum(axis=1) % 2 == 1
        # the sides belong to it
        near = _nearest_on(start, places, np.zeros(len(places), dtype=bool))
        on_side = np.hypot(*(near - places).T) <= _ROUNDING * self.frame.diameter
        return np.asarray(inside | on_side)

    def nearest(self, places: Floats) -> Floats:
        return _nearest_on(np.array(self.corners), places, self.contains(places))

    def __str__(self) -> str:
        return f"a polygon of {len(self.corners)} corners inside {self.frame}"


@frozen
class Globe:
    """Longitude from -180 to 180 and latitude from -90 to 90 degrees: a circle and an interval.

    >>> Globe().to_parts(np.array([[-170.0, 10.0]]))[0].tolist()
    [190.0]
    """

    @property
    def bounds(self) -> Bounds:
        return -180.0, 180.0, -90.0, 90.0

    @property
    def centre(self) -> Point:
        return 0.0, 0.0

    @property
    def diameter(self) -> float:
        return math.hypot(360.0, 180.0)

    @property
    def parts(self) -> tuple[Circle, Interval]:
        return Circle(360.0), Interval(-90.0, 90.0)

    def to_parts(self, places: Floats) -> tuple[Floats, Floats]:
        return Circle(360.0).reduce(places[:, 0]), places[:, 1]

    def from_parts(self, first: Floats, second: Floats) -> Floats:
        longitudes = np.where(first >= 180.0, first - 360.0, first)
        return np.column_stack([longitudes, second])

    def contains(self, places: Floats) -> Mask:
        return np.asarray((np.abs(places) <= [180.0, 90.0]).all(axis=1))

    def nearest(self, places: Floats) -> Floats:
        """The other end of the degrees for longitudes, the pole for latitudes beyond it."""
        latitudes: Floats = np.clip(places[:, 1], -90.0, 90.0)
        longitudes: Floats = Circle(360.0).reduce(places[:, 0])
        return self.from_parts(longitudes, latitudes)

    def __str__(self) -> str:
        return "longitudes [-180, 180] x latitudes [-90, 90]"


def frame_of(region: Region) -> Region:
    """The region a mechanism works on: itself, or the bounding rectangle of a polygon."""
    return region.frame if isinstance(region, Polygon) else region


def _bounds(ring: Floats) -> Bounds:
    (west, south), (east, north) = ring.min(axis=0).tolist(), ring.max(axis=0).tolist()
    return west, east, south, north


def _nearest_on(ring: Floats, places: Floats, inside: Mask) -> Floats:
    """The nearest place on the sides of a ring for each place, those inside kept."""
    result = places.copy()
    outside = places[~inside]
    if not len(outside):
        return result
    sides = np.roll(ring, -1, axis=0) - ring
    along = ((outside[:, None] - ring) * sides).sum(axis=2) / (sides**2).sum(axis=1)
    feet = ring + np.clip(along, 0.0, 1.0)[:, :, None] * sides  # the ends of a side are nearest beyond it
    best = np.argmin(((feet - outside[:, None]) ** 2).sum(axis=2), axis=1)
    result[~inside] = feet[np.arange(len(outside)), best]
    return result


def _crosses_itself(ring: Floats) -> bool:
    count = len(ring)
    stops = np.roll(ring, -1, axis=0)

    def side(a: Floats, b: Floats, c: Floats) -> float:
        return float((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))

    for i in range(count):
        for j in range(i + 2, count - (i == 0)):
            a, b, c, d = ring[i], stops[i], ring[j], stops[j]
            if side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0:
                return True
    return False
