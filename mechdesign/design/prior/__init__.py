"""The least average error under a prior, by randomised response on the best bins."""

from mechdesign.design.prior.problem import PriorProblem, require_prior_problem
from mechdesign.design.prior.proof import BinsBound
from mechdesign.design.prior.search import optimal_prior

__all__ = ["BinsBound", "PriorProblem", "optimal_prior", "require_prior_problem"]
