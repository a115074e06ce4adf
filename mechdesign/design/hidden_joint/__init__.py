"""The best joint response of all users at once, private against everybody else together."""

from mechdesign.design.hidden_joint.problem import HiddenJointProblem, Objective, expected_ratio, limit_ratio
from mechdesign.design.hidden_joint.proof import HockeyDuals, IndependentBest, PeakLines, attained_by
from mechdesign.design.hidden_joint.search import best_peaked, optimal_hidden, parts, ratio, without

__all__ = [
    "HiddenJointProblem",
    "HockeyDuals",
    "IndependentBest",
    "Objective",
    "PeakLines",
    "attained_by",
    "best_peaked",
    "expected_ratio",
    "limit_ratio",
    "optimal_hidden",
    "parts",
    "ratio",
    "without",
]
