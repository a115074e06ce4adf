"""Trajectories in continuous space: TraCS with any mechanism inside, certified designs, rivals, metrics, files."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.places.coordinates import (
        COORDINATES as COORDINATES,
        coordinate_mechanism as coordinate_mechanism,
    )
    from mechdesign.studies.places.discrete_rivals import (
        ATP as ATP,
        Points as Points,
        exponential as exponential,
        grid_points as grid_points,
        ngram as ngram,
        staircase as staircase,
    )
    from mechdesign.studies.places.expected import (
        best_reference as best_reference,
        best_split as best_split,
        expected_error as expected_error,
    )
    from mechdesign.studies.places.metrics import (
        average_error as average_error,
        busiest_points as busiest_points,
        geodesic_error as geodesic_error,
        hotspots_lost as hotspots_lost,
        within_range as within_range,
    )
    from mechdesign.studies.places.paths import Paths as Paths, uniform_paths as uniform_paths
    from mechdesign.studies.places.plane import PlaneDesign as PlaneDesign, plane_design as plane_design
    from mechdesign.studies.places.regions import (
        Disc as Disc,
        Globe as Globe,
        Parallelogram as Parallelogram,
        Polygon as Polygon,
        Rectangle as Rectangle,
    )
    from mechdesign.studies.places.rivals import (
        PlanarLaplace as PlanarLaplace,
        published_strawman as published_strawman,
        strawman as strawman,
    )
    from mechdesign.studies.places.rounding import to_cells as to_cells, to_points as to_points
    from mechdesign.studies.places.study import (
        METHODS as METHODS,
        Cell as Cell,
        compare as compare,
        constant_error as constant_error,
    )
    from mechdesign.studies.places.tracs import (
        TracsC as TracsC,
        TracsD as TracsD,
        perturb_whole_paths as perturb_whole_paths,
        tracs_c as tracs_c,
        tracs_d as tracs_d,
    )
else:
    __getattr__, __dir__ = facade(__name__)
