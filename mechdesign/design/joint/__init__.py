"""Joint randomised response: groups whose answers are drawn together."""

from mechdesign.design.joint.problem import JointProblem, Moments, Share, as_share, count_of, goal_of, require_share
from mechdesign.design.joint.proof import ClosedForm, DualBound, JointClaim
from mechdesign.design.joint.search import Heuristic, heuristic, optimal_joint, parts, ratio

__all__ = [
    "ClosedForm",
    "DualBound",
    "Heuristic",
    "JointClaim",
    "JointProblem",
    "Moments",
    "Share",
    "as_share",
    "count_of",
    "goal_of",
    "heuristic",
    "optimal_joint",
    "parts",
    "ratio",
    "require_share",
]
