"""What a design is: immutable families of conditional laws with exact cdf, moments, expected losses and sampler."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.mechanisms.additive import Additive as Additive, BoundedLaplace as BoundedLaplace
    from mechdesign.mechanisms.axes import AxisResponse as AxisResponse
    from mechdesign.mechanisms.circular import CircularLaplace as CircularLaplace
    from mechdesign.mechanisms.directions import (
        CapReports as CapReports,
        DirectionResponse as DirectionResponse,
        SignedSets as SignedSets,
    )
    from mechdesign.mechanisms.discrete import Discrete as Discrete, TwoSidedGeometric as TwoSidedGeometric
    from mechdesign.mechanisms.from_density import FromDensity as FromDensity
    from mechdesign.mechanisms.hidden import CountedResponse as CountedResponse, PeakedResponse as PeakedResponse
    from mechdesign.mechanisms.joint import JointResponse as JointResponse
    from mechdesign.mechanisms.joint_encodings import JointHashing as JointHashing, JointUnary as JointUnary
    from mechdesign.mechanisms.mixture import Mixture as Mixture
    from mechdesign.mechanisms.mutual_information import mutual_information as mutual_information
    from mechdesign.mechanisms.noise import (
        Gaussian as Gaussian,
        Laplace as Laplace,
        Noise as Noise,
        Staircase as Staircase,
    )
    from mechdesign.mechanisms.piecewise import (
        AffineWindow as AffineWindow,
        Pieces as Pieces,
        Piecewise as Piecewise,
        SublevelWindow as SublevelWindow,
    )
    from mechdesign.mechanisms.product import Product as Product
    from mechdesign.mechanisms.protocol import (
        Mechanism as Mechanism,
        ScalarMechanism as ScalarMechanism,
    )
    from mechdesign.mechanisms.ratio import LikelihoodRatio as LikelihoodRatio
    from mechdesign.mechanisms.towards_privacy import rounded_towards_privacy as rounded_towards_privacy
    from mechdesign.mechanisms.truncated import Truncated as Truncated
    from mechdesign.mechanisms.two_point import TwoPoint as TwoPoint
    from mechdesign.mechanisms.unbiased_window import UnbiasedWindow as UnbiasedWindow
    from mechdesign.mechanisms.window import Window as Window
else:
    __getattr__, __dir__ = facade(__name__, "mutual_information")
