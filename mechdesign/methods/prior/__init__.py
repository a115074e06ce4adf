"""The least average error under a prior, by randomised response on the best bins."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.prior.problem import (
        PriorProblem as PriorProblem,
        require_prior_problem as require_prior_problem,
    )
    from mechdesign.methods.prior.proof import BinsBound as BinsBound
    from mechdesign.methods.prior.search import optimal_prior as optimal_prior
else:
    __getattr__, __dir__ = facade(__name__)
