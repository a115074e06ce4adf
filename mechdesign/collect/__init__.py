"""The thin simulation layer: what a server estimates from reports, and how far off it is."""

from mechdesign.collect.numeric import (
    Accuracy,
    bin_shares,
    circular_mean,
    estimate_distribution,
    estimate_mean,
    simulate_distribution,
    simulate_mean,
)
from mechdesign.collect.protocols import (
    PROTOCOLS,
    FrequencyProtocol,
    bloom_rappor,
    designed,
    prefix_search,
    protocol,
    rappor,
    sampled_attribute,
    sampled_with_fakes,
    split_budget,
)

__all__ = [
    "PROTOCOLS",
    "Accuracy",
    "FrequencyProtocol",
    "bin_shares",
    "bloom_rappor",
    "circular_mean",
    "designed",
    "estimate_distribution",
    "estimate_mean",
    "prefix_search",
    "protocol",
    "rappor",
    "sampled_attribute",
    "sampled_with_fakes",
    "simulate_distribution",
    "simulate_mean",
    "split_budget",
]
