"""Places: points of a line, of a plane or on the globe, and how far they are from each other.

Distances are enclosed: what is computed in doubles is moved outward by far more than its rounding can be, so that
privacy is stated for distances that are no larger than the true ones, and bounds rest on losses on the safe side.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput
from mechdesign.values.declare import stored
from mechdesign.words.domains import require_numbers

Floats = NDArray[np.float64]

EUCLIDEAN, GREAT_CIRCLE = "euclidean", "great circle"
DISTANCES = (EUCLIDEAN, GREAT_CIRCLE)
EARTH = 6371.0088
"""Kilometres of the mean radius of the Earth (IUGG)."""

MOST_PLACES = 4096
_OUTWARD = {EUCLIDEAN: 2.0**-49, GREAT_CIRCLE: 2.0**-36}
"""Relative: differences, squares, a sum of at most three and a root are five roundings of 2^-53; sines are worse.

On the globe no angle is a difference that loses digits, wherever places are: about thirty roundings, a few of sines.
"""
_FARTHEST = 1e150


def require_places(said: ArrayLike, name: str = "points") -> Floats:
    """Different places, a row each with one, two or three coordinates; numbers alone are points of a line.

    >>> require_places([0, 1]).tolist()
    [[0.0], [1.0]]
    """
    places = require_numbers(said, name)
    places = places[:, None] if places.ndim == 1 else places
    if places.ndim != 2 or not places.size or places.shape[1] > 3:
        raise InvalidInput(name, places.shape, "be places: a row each, with one, two or three coordinates")
    if len(places) > MOST_PLACES:
        raise InvalidInput(name, len(places), f"be at most {MOST_PLACES}", "take a coarser grid")
    bad = np.argwhere(~(np.abs(places) <= _FARTHEST))
    if bad.size:
        row, column = bad[0].tolist()
        rule = "be a finite number: a place has all its coordinates"
        raise InvalidInput(f"{name}[{row}, {column}]", float(places[row, column]), rule, "drop the row, or complete it")
    return stored(places)


def require_different(places: Floats, name: str = "points") -> None:
    """No two places are the same, or `InvalidInput` that names both."""
    _, first, count = np.unique(places, axis=0, return_index=True, return_counts=True)
    if (count > 1).any():
        row = int(first[count > 1].min())
        same = np.flatnonzero((places == places[row]).all(axis=1)).tolist()
        rule = f"be different places: rows {same[0]} and {same[1]} are the same"
        raise InvalidInput(name, f"{len(places)} places", rule, "drop one, and add up their weights in a prior")


def require_globe(places: Floats, name: str = "points") -> None:
    """Latitude and longitude in degrees, or `InvalidInput`."""
    if places.shape[1] != 2:
        raise InvalidInput(name, places.shape, "have two coordinates on the globe: latitude, longitude")
    for column, (what, most) in enumerate((("latitude", 90.0), ("longitude", 180.0))):
        bad = np.flatnonzero(np.abs(places[:, column]) > most)
        if bad.size:
            step = "is the order latitude, longitude?" if what == "latitude" else "take -180 to 180"
            value = float(places[bad[0], column])
            raise InvalidInput(f"{name}[{bad[0]}]", value, f"have a {what} between -{most:g} and {most:g}", step)


def distances(points: Floats, others: Floats, distance: str = EUCLIDEAN) -> Floats:
    """The distance from every point to every other, to the nearest doubles there are formulas for.

    On the globe it is that along great circles of a sphere with the Earth's mean radius, in kilometres.

    >>> distances(np.array([[0.0, 0.0]]), np.array([[3.0, 4.0]])).item()
    5.0
    >>> round(distances(np.array([[52.5, 13.4]]), np.array([[48.9, 2.35]]), "great circle").item())
    874
    """
    if distance == EUCLIDEAN:
        squares = np.zeros((len(points), len(others)))
        for mine, theirs in zip(points.T, others.T, strict=True):
            squares += (mine[:, None] - theirs) ** 2
        return np.asarray(np.sqrt(squares))
    up = np.radians((points[:, None, 0] - others[None, :, 0]) / 2)
    across = np.radians(_turn(points[:, None, 1], others[None, :, 1]) / 2)
    half = np.sin(up) ** 2 + _cosine(points[:, :1]) * _cosine(others[:, 0]) * np.sin(across) ** 2
    # half the chord is well conditioned where places are near, that to the opposite place where they are far
    opposite = np.sqrt(
        sum((mine[:, None] + theirs) ** 2 for mine, theirs in zip(_on_sphere(points), _on_sphere(others), strict=True))
    )
    return np.asarray(2 * EARTH * np.arctan2(2 * np.sqrt(half), opposite))


def _cosine(latitude: Floats) -> Floats:
    """Of degrees, with a small relative error near a pole, too: the angle to the pole is a difference without error."""
    return np.asarray(np.sin(np.radians(90.0 - np.abs(latitude))))


def _turn(here: Floats, there: Floats) -> Floats:
    """Degrees between two meridians the shorter way, which may cross the antimeridian: sums have no error there."""
    beyond = (180.0 - np.abs(here)) + (180.0 - np.abs(there))
    between = np.abs(here - there)
    return np.asarray(np.where((here < 0) == (there < 0), between, np.minimum(between, beyond)))


def _on_sphere(places: Floats) -> tuple[Any, Any, Any]:
    latitude, longitude = np.radians(places).T
    across = _cosine(places[:, 0])
    return across * np.cos(longitude), across * np.sin(longitude), np.sin(latitude)


def distances_down(points: Floats, others: Floats, distance: str = EUCLIDEAN) -> Floats:
    """At most the distances.

    >>> distances_down(np.array([[0.0]]), np.array([[0.1]])).item() < 0.1
    True
    """
    return np.asarray(distances(points, others, distance) * (1 - _OUTWARD[distance]))


def distances_up(points: Floats, others: Floats, distance: str = EUCLIDEAN) -> Floats:
    """At least the distances."""
    return np.asarray(distances(points, others, distance) * (1 + _OUTWARD[distance]))
