"""Frequency protocols: how users report one of k items privately, how a server counts, and how far off it will be."""

from mechdesign.collect.protocols.attributes import (
    SampledAttribute,
    SampledWithFakes,
    SplitBudget,
    sampled_attribute,
    sampled_with_fakes,
    split_budget,
)
from mechdesign.collect.protocols.bloom import BloomRappor, bloom_rappor, rappor
from mechdesign.collect.protocols.catalogue import PROTOCOLS, protocol
from mechdesign.collect.protocols.designed import Designed, designed
from mechdesign.collect.protocols.grr import Grr
from mechdesign.collect.protocols.hadamard import HadamardResponse
from mechdesign.collect.protocols.hashing import LocalHashing
from mechdesign.collect.protocols.histogram import SummedHistogram, ThresholdHistogram
from mechdesign.collect.protocols.histories import Losses, Spent
from mechdesign.collect.protocols.longitudinal import Client, Longitudinal
from mechdesign.collect.protocols.prefix import Hitters, PrefixSearch, prefix_search
from mechdesign.collect.protocols.protocol import FrequencyProtocol, variances
from mechdesign.collect.protocols.randomness import OperatingSystem
from mechdesign.collect.protocols.subset import SubsetSelection
from mechdesign.collect.protocols.unary import Unary

__all__ = [
    "PROTOCOLS",
    "BloomRappor",
    "Client",
    "Designed",
    "FrequencyProtocol",
    "Grr",
    "HadamardResponse",
    "Hitters",
    "LocalHashing",
    "Longitudinal",
    "Losses",
    "OperatingSystem",
    "PrefixSearch",
    "SampledAttribute",
    "SampledWithFakes",
    "Spent",
    "SplitBudget",
    "SubsetSelection",
    "SummedHistogram",
    "ThresholdHistogram",
    "Unary",
    "bloom_rappor",
    "designed",
    "prefix_search",
    "protocol",
    "rappor",
    "sampled_attribute",
    "sampled_with_fakes",
    "split_budget",
    "variances",
]
