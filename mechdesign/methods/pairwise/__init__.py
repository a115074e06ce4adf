"""Every pair of inputs has its own epsilon."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.pairwise.lexicographic_proof import PairsLexicographicBound as PairsLexicographicBound
    from mechdesign.methods.pairwise.plane_proof import PlaneBound as PlaneBound
    from mechdesign.methods.pairwise.proof import (
        PairsBound as PairsBound,
        errors_up as errors_up,
        output_columns as output_columns,
    )
else:
    __getattr__, __dir__ = facade(__name__)
