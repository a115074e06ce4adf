"""Any linear queries about the shares of k types, answered with the least noise."""

from mechdesign.design.workload.decoder import decoder
from mechdesign.design.workload.estimator import estimator, query_noises
from mechdesign.design.workload.grid_proof import GridBound
from mechdesign.design.workload.pricing import Bits, swept
from mechdesign.design.workload.problem import WorkloadProblem
from mechdesign.design.workload.proof import WorkloadBound
from mechdesign.design.workload.queries import (
    Histogram,
    Marginals,
    Mean,
    Moments,
    Parity,
    Prefix,
    Queries,
    Ranges,
    Workload,
    parse_workload,
)
from mechdesign.design.workload.search import optimal_workload

__all__ = [
    "Bits",
    "GridBound",
    "Histogram",
    "Marginals",
    "Mean",
    "Moments",
    "Parity",
    "Prefix",
    "Queries",
    "Ranges",
    "Workload",
    "WorkloadBound",
    "WorkloadProblem",
    "decoder",
    "estimator",
    "optimal_workload",
    "parse_workload",
    "query_noises",
    "swept",
]
