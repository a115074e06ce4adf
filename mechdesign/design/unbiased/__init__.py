"""The least average variance under a prior with ``E[Y|x] = x``."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.unbiased.problem import UnbiasedProblem as UnbiasedProblem
    from mechdesign.design.unbiased.proof import UnbiasedPriorBound as UnbiasedPriorBound
    from mechdesign.design.unbiased.search import optimal_unbiased as optimal_unbiased
else:
    __getattr__, __dir__ = facade(__name__)
