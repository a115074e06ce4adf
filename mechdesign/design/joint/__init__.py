"""Joint randomised response: groups whose answers are drawn together."""

from mechdesign.design.joint.problem import JointProblem
from mechdesign.design.joint.saved import load_joint, save_joint
from mechdesign.design.joint.search import JointDesign, optimal_joint

__all__ = ["JointDesign", "JointProblem", "load_joint", "optimal_joint", "save_joint"]
