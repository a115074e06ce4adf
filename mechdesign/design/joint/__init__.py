"""Joint randomised response: groups whose answers are drawn together."""

from mechdesign.design.joint.problem import JointProblem, Moments
from mechdesign.design.joint.proof import ClosedForm, DualBound, JointClaim
from mechdesign.design.joint.search import Heuristic, heuristic, optimal_joint, parts, ratio

__all__ = [
    "ClosedForm",
    "DualBound",
    "Heuristic",
    "JointClaim",
    "JointProblem",
    "Moments",
    "heuristic",
    "optimal_joint",
    "parts",
    "ratio",
]
