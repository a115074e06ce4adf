"""The least error over all mechanisms on finitely many numbers, such as whole ones."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.points.problem import (
        PointsProblem as PointsProblem,
        require_points_problem as require_points_problem,
        weights_on as weights_on,
    )
    from mechdesign.methods.points.proof import PointsBound as PointsBound
    from mechdesign.methods.points.search import optimal_on_points as optimal_on_points
else:
    __getattr__, __dir__ = facade(__name__)
