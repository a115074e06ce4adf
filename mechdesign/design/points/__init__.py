"""The least error over all mechanisms on finitely many numbers, such as whole ones."""

from mechdesign.design.points.problem import PointsProblem, require_points_problem, weights_on
from mechdesign.design.points.proof import PointsBound
from mechdesign.design.points.search import optimal_on_points

__all__ = ["PointsBound", "PointsProblem", "optimal_on_points", "require_points_problem", "weights_on"]
