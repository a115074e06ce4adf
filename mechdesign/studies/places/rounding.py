"""Reports moved to a finite set of places that is public: cells, or points of interest. Costs no privacy."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.plane import cell_numbers
from mechdesign.studies.places.regions import Rectangle, Region, require_places
from mechdesign.values.declare import Floats


def to_cells(paths: Paths, region: Rectangle, columns: int, rows: int) -> Paths:
    """The middle of the cell that each location lies in.

    >>> to_cells(Paths.of_one([[0.1, 0.9]]), Rectangle(0, 1, 0, 1), 2, 2).places.tolist()
    [[0.25, 0.75]]
    """
    columns, rows = (require_whole(count, name, 1, 10**6) for count, name in ((columns, "columns"), (rows, "rows")))
    places = require_places(region, paths.places)
    row, column = np.divmod(cell_numbers(region, columns, rows, places), columns)
    cell = np.array([(region.east - region.west) / columns, (region.north - region.south) / rows])
    return paths.replaced(np.array([region.west, region.south]) + (np.column_stack([column, row]) + 0.5) * cell)


def to_points(paths: Paths, points: ArrayLike) -> Paths:
    """The nearest of the given points for each location.

    >>> to_points(Paths.of_one([[0.1, 0.9]]), [[0, 0], [0, 1]]).places.tolist()
    [[0.0, 1.0]]
    """
    table = np.asarray(points, dtype=np.float64)
    return paths.replaced(table[nearest_points(table, paths.places)])


def nearest_points(points: Floats, places: Floats) -> NDArray[np.intp]:
    """The number of the nearest point for each place."""
    from scipy.spatial import KDTree

    return np.asarray(KDTree(points).query(places)[1], dtype=np.intp)


def require_points(region: Region, points: ArrayLike) -> Floats:
    """Points of interest: different places inside the region, two at least."""
    table = require_places(region, points, "points of interest")
    if len(np.unique(table, axis=0)) < max(2, len(table)):
        raise InvalidInput("points of interest", len(table), "be at least two, each once", "drop repeated points")
    return table
