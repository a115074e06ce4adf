"""What a design is: immutable families of conditional laws with exact cdf, moments, expected losses and sampler."""

from mechdesign.mechanisms.additive import Additive, BoundedLaplace
from mechdesign.mechanisms.circular import CircularLaplace
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.from_density import FromDensity
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.noise import Gaussian, Laplace, Noise, Staircase
from mechdesign.mechanisms.piecewise import AffineWindow, Pieces, Piecewise, SublevelWindow
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Continuous, Mechanism, ScalarMechanism
from mechdesign.mechanisms.ratio import LikelihoodRatio
from mechdesign.mechanisms.towards_privacy import rounded_towards_privacy
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window

__all__ = [
    "Additive",
    "AffineWindow",
    "BoundedLaplace",
    "CircularLaplace",
    "Continuous",
    "CountedResponse",
    "Discrete",
    "FromDensity",
    "Gaussian",
    "JointHashing",
    "JointResponse",
    "JointUnary",
    "Laplace",
    "LikelihoodRatio",
    "Mechanism",
    "Mixture",
    "Noise",
    "PeakedResponse",
    "Pieces",
    "Piecewise",
    "Product",
    "ScalarMechanism",
    "Staircase",
    "SublevelWindow",
    "Truncated",
    "TwoPoint",
    "TwoSidedGeometric",
    "UnbiasedWindow",
    "Window",
    "rounded_towards_privacy",
]
