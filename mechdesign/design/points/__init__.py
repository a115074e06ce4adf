"""The least error over all mechanisms on finitely many numbers, such as whole ones."""

from mechdesign.design.points.proof import PointsBound
from mechdesign.design.points.search import optimal_on_points, require_points_problem

__all__ = ["PointsBound", "optimal_on_points", "require_points_problem"]
