"""Any losses over finite inputs and outputs."""

from mechdesign.design.finite.problem import (
    CRITERIA,
    MOST_ENTRIES,
    FiniteProblem,
    euclidean,
    matrix_digest,
    require_losses,
)
from mechdesign.design.finite.proof import FiniteBound, LexicographicBound
from mechdesign.design.finite.search import optimal_finite

__all__ = [
    "CRITERIA",
    "MOST_ENTRIES",
    "FiniteBound",
    "FiniteProblem",
    "LexicographicBound",
    "euclidean",
    "matrix_digest",
    "optimal_finite",
    "require_losses",
]
