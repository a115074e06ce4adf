"""What a server estimates from reports, and how far off it is."""

from mechdesign.collect.descriptor import Descriptor, EdgeResponse
from mechdesign.collect.fit import Fit, examine, require_fit
from mechdesign.collect.intervals import Intervals, share_intervals
from mechdesign.collect.joint import accuracy, simulate_estimates, simulate_reports
from mechdesign.collect.mean import EstimatedMean, expected_error, mean_of_reports, sampling_error
from mechdesign.collect.mean_methods import MeanMethod
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
from mechdesign.collect.reports import Counted, count_reports
from mechdesign.collect.several import collect_means, scaled_means
from mechdesign.collect.shipping import as_protocol, decoded, encoding, protocol_table
from mechdesign.collect.square_wave import estimate_by_em, estimate_by_ems
from mechdesign.collect.survey import Survey
from mechdesign.collect.tuning import tune_two_phase
from mechdesign.collect.two_phase import TwoPhasePlan, additive_form, free_form, simulate_once, simulate_two_phase

__all__ = [
    "PROTOCOLS",
    "Accuracy",
    "Counted",
    "Descriptor",
    "EdgeResponse",
    "EstimatedMean",
    "Fit",
    "FrequencyProtocol",
    "Intervals",
    "MeanMethod",
    "Survey",
    "TwoPhasePlan",
    "accuracy",
    "additive_form",
    "as_protocol",
    "bin_shares",
    "bloom_rappor",
    "circular_mean",
    "collect_means",
    "count_reports",
    "decoded",
    "designed",
    "encoding",
    "estimate_by_em",
    "estimate_by_ems",
    "estimate_distribution",
    "estimate_mean",
    "examine",
    "expected_error",
    "free_form",
    "mean_of_reports",
    "prefix_search",
    "protocol",
    "protocol_table",
    "rappor",
    "require_fit",
    "sampled_attribute",
    "sampled_with_fakes",
    "sampling_error",
    "scaled_means",
    "share_intervals",
    "simulate_distribution",
    "simulate_estimates",
    "simulate_mean",
    "simulate_once",
    "simulate_reports",
    "simulate_two_phase",
    "split_budget",
    "tune_two_phase",
]
