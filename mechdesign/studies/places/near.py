"""Places through the optimum of metric privacy on a grid: the nearer two cells, the better they are hidden."""

from __future__ import annotations

import numpy as np

from mechdesign.errors import InvalidInput, require_epsilon, require_whole
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.result import Certificate
from mechdesign.studies.places.paths import Paths
from mechdesign.studies.places.plane import cell_numbers, grid_shape, middles
from mechdesign.studies.places.regions import Rectangle, require_places
from mechdesign.values.declare import Floats, frozen
from mechdesign.words.criteria import Average
from mechdesign.words.finite_losses import Distances
from mechdesign.words.pairs import Metric
from mechdesign.words.problem import Problem

MOST_CELLS = 128
"""Up to which the program of a design is the whole problem."""


@frozen
class NearDesign:
    """A certified table over the cells of a rectangle, ``columns`` by ``rows`` of them, with an epsilon for each pair.

    *Guarantee.* Cells whose middles are d apart differ in likelihood by at most ``e^(per_unit d)``, decided as
    fractions. No two cells are further apart than the farthest, so a location spends at most epsilon as well.
    """

    region: Rectangle
    columns: int
    rows: int
    per_unit: float
    table: Discrete
    certificate: Certificate
    name: str = "metric"

    @property
    def epsilon(self) -> float:
        return self.table.epsilon

    def privacy_loss(self) -> float:
        """The epsilon a location really spends against a location anywhere."""
        return self.table.privacy_loss()

    def perturb(self, paths: Paths, rng: np.random.Generator) -> Paths:
        """Paths of reports, for simulation: middles of cells."""
        cells = cell_numbers(self.region, self.columns, self.rows, require_places(self.region, paths.places))
        reports = self.table.sample(cells.astype(np.float64), rng)
        return paths.replaced(middles(self.region, self.columns, self.rows)[reports.astype(np.intp)])


def near_design(region: Rectangle, epsilon: float, cells: int = 8) -> NearDesign:
    """The least average distance on a grid of about ``cells`` squared, with ``epsilon`` between the farthest cells.

    Its middles are as far apart as ``epsilon`` is for; nearer ones have their share of it. Where only that any two
    places look alike counts, `plane_design` has the smaller error.

    >>> design = near_design(Rectangle(0, 1, 0, 1), 4.0, cells=3)
    >>> design.privacy_loss() <= 4.0, round(design.per_unit, 3)
    (True, 4.243)
    """
    from mechdesign.methods.registry import solve

    if not isinstance(region, Rectangle):
        raise InvalidInput("region", str(region), "be a rectangle for a design of the plane")
    columns, rows = grid_shape(region, require_whole(cells, "cells", 2, MOST_CELLS))
    if columns * rows > MOST_CELLS:
        raise InvalidInput("cells", cells, f"make at most {MOST_CELLS} cells in all (got {columns} x {rows})", "fewer")
    places = middles(region, columns, rows)
    per_unit = require_epsilon(epsilon) / _farthest(places)
    problem = Problem(loss=Distances(), privacy=Metric(places, per_unit), criterion=Average())
    design = solve(problem, gap=1e-3)
    assert isinstance(design.mechanism, Discrete)
    return NearDesign(region, columns, rows, per_unit, design.mechanism, design.certificate)


def _farthest(places: Floats) -> float:
    return float(np.hypot(*(places.max(axis=0) - places.min(axis=0))))
