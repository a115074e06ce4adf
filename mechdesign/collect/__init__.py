"""The thin simulation layer: what a server estimates from reports, and how far off it is."""

from mechdesign.collect.joint import accuracy, simulate_estimates, simulate_reports
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
    "accuracy",
    "bin_shares",
    "circular_mean",
    "estimate_distribution",
    "estimate_mean",
    "simulate_distribution",
    "simulate_estimates",
    "simulate_mean",
    "simulate_reports",
]
