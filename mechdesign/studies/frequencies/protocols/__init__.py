"""Frequency protocols: how users report one of k items privately, how a server counts, and how far off it will be."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.frequencies.protocols.attributes import (
        SampledAttribute as SampledAttribute,
        SampledWithFakes as SampledWithFakes,
        SplitBudget as SplitBudget,
        sampled_attribute as sampled_attribute,
        sampled_with_fakes as sampled_with_fakes,
        split_budget as split_budget,
    )
    from mechdesign.studies.frequencies.protocols.bloom import (
        BloomRappor as BloomRappor,
        bloom_rappor as bloom_rappor,
        rappor as rappor,
    )
    from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS as PROTOCOLS, protocol as protocol
    from mechdesign.studies.frequencies.protocols.designed import Designed as Designed, designed as designed
    from mechdesign.studies.frequencies.protocols.grr import Grr as Grr
    from mechdesign.studies.frequencies.protocols.hadamard import HadamardResponse as HadamardResponse
    from mechdesign.studies.frequencies.protocols.hashing import LocalHashing as LocalHashing
    from mechdesign.studies.frequencies.protocols.histogram import (
        SummedHistogram as SummedHistogram,
        ThresholdHistogram as ThresholdHistogram,
    )
    from mechdesign.studies.frequencies.protocols.histories import Losses as Losses, Spent as Spent
    from mechdesign.studies.frequencies.protocols.longitudinal import Client as Client, Longitudinal as Longitudinal
    from mechdesign.studies.frequencies.protocols.prefix import (
        Hitters as Hitters,
        PrefixSearch as PrefixSearch,
        prefix_search as prefix_search,
    )
    from mechdesign.studies.frequencies.protocols.protocol import (
        FrequencyProtocol as FrequencyProtocol,
        variances as variances,
    )
    from mechdesign.studies.frequencies.protocols.randomness import OperatingSystem as OperatingSystem
    from mechdesign.studies.frequencies.protocols.subset import SubsetSelection as SubsetSelection
    from mechdesign.studies.frequencies.protocols.unary import Unary as Unary
else:
    __getattr__, __dir__ = facade(__name__, "protocol", "designed")
