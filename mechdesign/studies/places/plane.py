"""The certified optimum in two dimensions at once, on a grid of a rectangle.

A place goes to the middle of its cell, and the middle through a table that is optimal among all tables onto the middles
of cells. Both ends of the interval on the optimum speak of that. `PlaneDesign.floor` speaks of all mechanisms, as
any mechanism of the rectangle becomes a table onto middles, whose error is at least ``lower``.

* Its outputs anywhere in the plane are moved to the rectangle, which brings them nearer to all places, and then to the
  nearest middle, which costs at most half a cell's diagonal.
* It serves a middle by drawing a uniform place of its cell first: a mixture, so as private as before. Its error from
  the middle is larger than that from the place by at most their distance. In the worst case it serves the middle
  itself, which is a place too, and this costs nothing.

So no mechanism has an average error below ``lower - diagonal / 2 - average distance``, nor a worst one below
``lower - diagonal / 2``. The average distance is at most its root mean square, ``sqrt((width^2 + height^2) / 12)``.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, require_whole
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.result import Certificate
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.regions import Rectangle, require_places
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.criteria import named_criterion
from mechdesign.words.finite_losses import Matrix, euclidean
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

MOST_CELLS = 1600


@frozen
class PlaneDesign:
    """A certified table over the cells of a rectangle, ``columns`` by ``rows`` of them.

    *Guarantee.* The cell is a function of the place, and the table is private between any two cells: a location spends
    at most epsilon, exactly the table's privacy loss.
    """

    region: Rectangle
    columns: int
    rows: int
    table: Discrete
    certificate: Certificate
    criterion: str
    name: str = "plane"

    @property
    def epsilon(self) -> float:
        return self.table.epsilon

    def privacy_loss(self) -> float:
        """The epsilon a location really spends."""
        return self.table.privacy_loss()

    @property
    def floor(self) -> float:
        """No mechanism whatever, with any outputs, has a smaller error over the rectangle (average or worst)."""
        moved = self._half_diagonal + (self._average_distance if self.criterion == "prior" else 0.0)
        return max(0.0, self.certificate.lower - moved)

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        """Paths of reports, for simulation: middles of cells."""
        cells = self.cell_of(require_places(self.region, paths.places))
        reports = self.table.sample(cells.astype(np.float64), rng).astype(np.intp)
        return paths.replaced(middles(self.region, self.columns, self.rows)[reports])

    def cell_of(self, places: Floats) -> NDArray[np.intp]:
        """The number of the cell that each place lies in, by rows from the south west; the east and north sides of the
        rectangle belong to the last cells."""
        return cell_numbers(self.region, self.columns, self.rows, places)

    @property
    def _half_diagonal(self) -> float:
        return math.hypot(*_cell(self.region, self.columns, self.rows)) / 2

    @property
    def _average_distance(self) -> float:
        """An upper bound of the average distance of a uniform place of a cell to its middle."""
        width, height = _cell(self.region, self.columns, self.rows)
        return math.sqrt((width**2 + height**2) / 12)  # by Jensen: the root of the average square


def plane_design(region: Rectangle, epsilon: float, cells: int = 15, criterion: str = "prior") -> PlaneDesign:
    """The least Euclidean error on a grid of about ``cells`` squared, averaged over places (``prior``) or ``worst``.

    The longer side is cut into so many more cells that they are nearly square.

    >>> design = plane_design(Rectangle(0, 1, 0, 1), 2.0, cells=5)
    >>> design.certificate.upper < 0.37, design.privacy_loss() <= 2.0
    (True, True)
    """
    from mechdesign.methods.registry import solve

    if not isinstance(region, Rectangle):
        raise InvalidInput("region", str(region), "be a rectangle for a design of the plane")
    count = require_whole(cells, "cells", 2, math.isqrt(MOST_CELLS))
    columns, rows = grid_shape(region, count)
    if columns * rows > MOST_CELLS:
        raise InvalidInput("cells", cells, f"make at most {MOST_CELLS} cells in all (got {columns} x {rows})", "fewer")
    losses = euclidean(middles(region, columns, rows))
    problem = Problem(loss=Matrix(losses), privacy=Pure(epsilon), criterion=named_criterion(criterion))
    design = solve(problem, gap=1e-3)
    assert isinstance(design.mechanism, Discrete)
    return PlaneDesign(region, columns, rows, design.mechanism, design.certificate, criterion)


def grid_shape(region: Rectangle, count: int) -> tuple[int, int]:
    """Columns and rows of about ``count`` squared cells that are nearly square."""
    width, height = region.east - region.west, region.north - region.south
    columns = max(2, round(count * math.sqrt(width / height)))
    return columns, max(2, round(count * count / columns))


def middles(region: Rectangle, columns: int, rows: int) -> Floats:
    """The middles of the cells, by rows from the south west."""
    width, height = _cell(region, columns, rows)
    x = region.west + (np.arange(columns) + 0.5) * width
    y = region.south + (np.arange(rows) + 0.5) * height
    return np.column_stack([np.tile(x, rows), np.repeat(y, columns)])


def cell_numbers(region: Rectangle, columns: int, rows: int, places: Floats) -> NDArray[np.intp]:
    """The number of each place's cell among those of `middles`."""
    width, height = _cell(region, columns, rows)
    column = np.minimum(((places[:, 0] - region.west) / width).astype(np.intp), columns - 1)
    row = np.minimum(((places[:, 1] - region.south) / height).astype(np.intp), rows - 1)
    return np.asarray(row * columns + column)


def _cell(region: Rectangle, columns: int, rows: int) -> tuple[float, float]:
    return (region.east - region.west) / columns, (region.north - region.south) / rows
