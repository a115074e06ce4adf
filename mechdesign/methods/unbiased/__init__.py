"""The least average variance under a prior with ``E[Y|x] = x``."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.unbiased.problem import UnbiasedProblem as UnbiasedProblem
    from mechdesign.methods.unbiased.proof import UnbiasedPriorBound as UnbiasedPriorBound
    from mechdesign.methods.unbiased.search import optimal_unbiased as optimal_unbiased
else:
    __getattr__, __dir__ = facade(__name__)
