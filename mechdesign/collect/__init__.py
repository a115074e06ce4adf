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

__all__ = [
    "Accuracy",
    "bin_shares",
    "circular_mean",
    "estimate_distribution",
    "estimate_mean",
    "simulate_distribution",
    "simulate_mean",
]
