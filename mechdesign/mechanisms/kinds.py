"""The mechanisms that a file may hold, and what may stand inside them: a product never holds another."""

from __future__ import annotations

from typing import Any

from mechdesign.mechanisms.additive import Additive, BoundedLaplace
from mechdesign.mechanisms.circular import CircularLaplace
from mechdesign.mechanisms.conditional import ConditionalNoise
from mechdesign.mechanisms.directions import DirectionResponse
from mechdesign.mechanisms.discrete import Discrete, TwoSidedGeometric
from mechdesign.mechanisms.hidden import CountedResponse, PeakedResponse
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.mechanisms.joint_encodings import JointHashing, JointUnary
from mechdesign.mechanisms.mixture import Mixture
from mechdesign.mechanisms.noise import Gaussian, Laplace, Noise, Staircase
from mechdesign.mechanisms.piecewise import Piecewise
from mechdesign.mechanisms.product import Product
from mechdesign.mechanisms.protocol import Mechanism, ScalarMechanism
from mechdesign.mechanisms.truncated import Truncated
from mechdesign.mechanisms.two_point import TwoPoint
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.mechanisms.window import Window
from mechdesign.words.losses import Loss, Power
from mechdesign.words.objectives import Formula, WholeLoss

SCALAR_KINDS: tuple[type, ...] = (
    Additive,
    BoundedLaplace,
    CircularLaplace,
    ConditionalNoise,
    Discrete,
    Mixture,
    Piecewise,
    Truncated,
    TwoPoint,
    TwoSidedGeometric,
    UnbiasedWindow,
    Window,
)
"""Those for one number, which may be parts of a product."""

KINDS: tuple[type, ...] = (*SCALAR_KINDS, Product, DirectionResponse)
"""All that are a `Mechanism`."""

JOINT_KINDS: tuple[type, ...] = (JointResponse, JointUnary, JointHashing, PeakedResponse, CountedResponse)
"""Those for groups of users: what they cost in privacy depends on who colludes, so they have no likelihood ratio."""

PROTOCOLS: dict[Any, tuple[type, ...]] = {
    Mechanism: KINDS,
    ScalarMechanism: SCALAR_KINDS,
    Noise: (Laplace, Gaussian, Staircase),
    Loss: (Power,),
    WholeLoss: (Formula,),
}
"""What may stand in a file where one of these protocols is declared, for `mechdesign.values.codec.Codec`."""
