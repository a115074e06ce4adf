"""Any losses over finite inputs and outputs."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.finite.problem import (
        CRITERIA as CRITERIA,
        MOST_ENTRIES as MOST_ENTRIES,
        FiniteProblem as FiniteProblem,
        euclidean as euclidean,
        matrix_digest as matrix_digest,
        require_losses as require_losses,
    )
    from mechdesign.design.finite.proof import FiniteBound as FiniteBound, LexicographicBound as LexicographicBound
    from mechdesign.design.finite.search import optimal_finite as optimal_finite
else:
    __getattr__, __dir__ = facade(__name__)
