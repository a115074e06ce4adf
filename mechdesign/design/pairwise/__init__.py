"""An epsilon for each pair of inputs: metric privacy, places, policies, personal budgets."""

from mechdesign.design.pairwise.lexicographic_proof import PairsLexicographicBound
from mechdesign.design.pairwise.plane_proof import PlaneBound
from mechdesign.design.pairwise.problem import Distances, InPlane, PairwiseProblem
from mechdesign.design.pairwise.proof import PairsBound, errors_up, output_columns
from mechdesign.design.pairwise.search import optimal_pairwise

__all__ = [
    "Distances",
    "InPlane",
    "PairsBound",
    "PairsLexicographicBound",
    "PairwiseProblem",
    "PlaneBound",
    "errors_up",
    "optimal_pairwise",
    "output_columns",
]
