"""Trajectories in continuous space: TraCS with any mechanism inside, certified designs, rivals, metrics, files."""

from mechdesign.trajectory.coordinates import COORDINATES, coordinate_mechanism
from mechdesign.trajectory.discrete_rivals import ATP, Points, exponential, grid_points, ngram, staircase
from mechdesign.trajectory.expected import best_reference, best_split, expected_error
from mechdesign.trajectory.metrics import (
    average_error,
    busiest_points,
    geodesic_error,
    hotspots_lost,
    within_range,
)
from mechdesign.trajectory.paths import Paths, uniform_paths
from mechdesign.trajectory.plane import PlaneDesign, plane_design
from mechdesign.trajectory.regions import Disc, Parallelogram, Polygon, Rectangle, Sphere
from mechdesign.trajectory.rivals import PlanarLaplace, published_strawman, strawman
from mechdesign.trajectory.rounding import to_cells, to_points
from mechdesign.trajectory.study import METHODS, Cell, compare, constant_error
from mechdesign.trajectory.tracs import TracsC, TracsD, perturb_whole_paths, tracs_c, tracs_d

__all__ = [
    "ATP",
    "COORDINATES",
    "METHODS",
    "Cell",
    "Disc",
    "Parallelogram",
    "Paths",
    "PlanarLaplace",
    "PlaneDesign",
    "Points",
    "Polygon",
    "Rectangle",
    "Sphere",
    "TracsC",
    "TracsD",
    "average_error",
    "best_reference",
    "best_split",
    "busiest_points",
    "compare",
    "constant_error",
    "coordinate_mechanism",
    "expected_error",
    "exponential",
    "geodesic_error",
    "grid_points",
    "hotspots_lost",
    "ngram",
    "perturb_whole_paths",
    "plane_design",
    "published_strawman",
    "staircase",
    "strawman",
    "to_cells",
    "to_points",
    "tracs_c",
    "tracs_d",
    "uniform_paths",
    "within_range",
]
