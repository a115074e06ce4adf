"""An epsilon for each pair of inputs: metric privacy, places, policies, personal budgets."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.pairwise.lexicographic_proof import PairsLexicographicBound as PairsLexicographicBound
    from mechdesign.design.pairwise.plane_proof import PlaneBound as PlaneBound
    from mechdesign.design.pairwise.problem import (
        Distances as Distances,
        InPlane as InPlane,
        PairwiseProblem as PairwiseProblem,
    )
    from mechdesign.design.pairwise.proof import (
        PairsBound as PairsBound,
        errors_up as errors_up,
        output_columns as output_columns,
    )
    from mechdesign.design.pairwise.search import optimal_pairwise as optimal_pairwise
else:
    __getattr__, __dir__ = facade(__name__)
