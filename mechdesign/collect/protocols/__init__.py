"""Frequency protocols: how users report one of k items privately, how a server counts, and how far off it will be."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.collect.protocols.attributes import (
        SampledAttribute as SampledAttribute,
        SampledWithFakes as SampledWithFakes,
        SplitBudget as SplitBudget,
        sampled_attribute as sampled_attribute,
        sampled_with_fakes as sampled_with_fakes,
        split_budget as split_budget,
    )
    from mechdesign.collect.protocols.bloom import (
        BloomRappor as BloomRappor,
        bloom_rappor as bloom_rappor,
        rappor as rappor,
    )
    from mechdesign.collect.protocols.catalogue import PROTOCOLS as PROTOCOLS, protocol as protocol
    from mechdesign.collect.protocols.designed import Designed as Designed, designed as designed
    from mechdesign.collect.protocols.grr import Grr as Grr
    from mechdesign.collect.protocols.hadamard import HadamardResponse as HadamardResponse
    from mechdesign.collect.protocols.hashing import LocalHashing as LocalHashing
    from mechdesign.collect.protocols.histogram import (
        SummedHistogram as SummedHistogram,
        ThresholdHistogram as ThresholdHistogram,
    )
    from mechdesign.collect.protocols.histories import Losses as Losses, Spent as Spent
    from mechdesign.collect.protocols.longitudinal import Client as Client, Longitudinal as Longitudinal
    from mechdesign.collect.protocols.prefix import (
        Hitters as Hitters,
        PrefixSearch as PrefixSearch,
        prefix_search as prefix_search,
    )
    from mechdesign.collect.protocols.protocol import FrequencyProtocol as FrequencyProtocol, variances as variances
    from mechdesign.collect.protocols.randomness import OperatingSystem as OperatingSystem
    from mechdesign.collect.protocols.subset import SubsetSelection as SubsetSelection
    from mechdesign.collect.protocols.unary import Unary as Unary
else:
    __getattr__, __dir__ = facade(__name__, "protocol", "designed")
