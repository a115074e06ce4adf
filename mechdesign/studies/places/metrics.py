"""How far reported paths are from the true ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_finite
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.rounding import nearest_points
from mechdesign.values.declare import Floats

EARTH_RADIUS = 6_371_008.8
"""Metres: the mean radius."""


def average_error(true: Paths, reported: Paths) -> Floats:
    """The average Euclidean distance along each path: the chapter's AE.

    >>> average_error(Paths.of_one([[0, 0], [1, 1]]), Paths.of_one([[3, 4], [1, 1]])).tolist()
    [2.5]
    """
    return _averages(true, distances(true, reported))


def within_range(true: Paths, reported: Paths, range_: float) -> Floats:
    """The share of each path's locations that are at most ``range_`` off: the chapter's RQP over 100.

    >>> within_range(Paths.of_one([[0, 0], [1, 1]]), Paths.of_one([[3, 4], [1, 1]]), 0.1).tolist()
    [0.5]
    """
    limit = require_finite(range_, "range")
    if not limit > 0:
        raise InvalidInput("range", range_, "be above 0")
    return _averages(true, (distances(true, reported) <= limit).astype(np.float64))


def hotspots_lost(true: Paths, reported: Paths, points: ArrayLike, hotspots: ArrayLike) -> Floats:
    """How many of each path's locations are at a hotspot and reported elsewhere: the chapter's count difference CD.

    Places count as the nearest of the ``points``; ``hotspots`` are numbers of points.
    """
    table, marked = np.asarray(points, dtype=np.float64), np.zeros(len(np.asarray(points)), dtype=bool)
    marked[np.asarray(hotspots, dtype=np.intp)] = True
    were = marked[nearest_points(table, true.places)]
    are = marked[nearest_points(table, reported.places)]
    return _averages(true, (were & ~are).astype(np.float64)) * true.lengths


def busiest_points(true: Paths, points: ArrayLike, share: float = 0.2) -> NDArray[np.intp]:
    """The most visited ``share`` of the points, as numbers: the chapter's hotspots."""
    part = require_finite(share, "share")
    if not 0 < part <= 1:
        raise InvalidInput("share", share, "be above 0 and at most 1")
    table = np.asarray(points, dtype=np.float64)
    visits = np.bincount(nearest_points(table, true.places), minlength=len(table))
    return np.argsort(-visits, kind="stable")[: max(1, round(part * len(table)))]


def geodesic_error(true: Paths, reported: Paths) -> Floats:
    """The average great-circle distance in metres along each path of longitudes and latitudes in degrees.

    >>> pole, equator = Paths.of_one([[0, 90]]), Paths.of_one([[0, 0]])
    >>> round(geodesic_error(pole, equator).item() / 1000)  # a quarter of the way round
    10008
    """
    _require_same_shape(true, reported)
    for paths in (true, reported):
        if (np.abs(paths.places[:, 1]) > 90).any():
            raise InvalidInput(
                "region", "beyond 90", "have latitudes for its y", "metres are for degrees on the sphere"
            )
    (a, b), (c, d) = np.radians(true.places).T, np.radians(reported.places).T
    half = np.sin((d - b) / 2) ** 2 + np.cos(b) * np.cos(d) * np.sin((c - a) / 2) ** 2
    return _averages(true, 2 * EARTH_RADIUS * np.arcsin(np.sqrt(np.minimum(half, 1.0))))


def distances(true: Paths, reported: Paths) -> Floats:
    """The Euclidean distance of every location."""
    _require_same_shape(true, reported)
    return np.asarray(np.hypot(*(reported.places - true.places).T))


def _require_same_shape(true: Paths, reported: Paths) -> None:
    if not np.array_equal(true.starts, reported.starts):
        raise InvalidInput("paths", len(reported), "have the lengths of the true paths")


def _averages(paths: Paths, values: Floats) -> Floats:
    return np.asarray(np.add.reduceat(values, paths.starts[:-1]) / paths.lengths)
