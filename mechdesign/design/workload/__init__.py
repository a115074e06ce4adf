"""Any linear queries about the shares of k types, answered with the least noise."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.workload.decoder import decoder as decoder
    from mechdesign.design.workload.estimator import estimator as estimator, query_noises as query_noises
    from mechdesign.design.workload.grid_proof import GridBound as GridBound
    from mechdesign.design.workload.pricing import Bits as Bits, swept as swept
    from mechdesign.design.workload.problem import WorkloadProblem as WorkloadProblem
    from mechdesign.design.workload.proof import WorkloadBound as WorkloadBound
    from mechdesign.design.workload.queries import (
        Histogram as Histogram,
        Marginals as Marginals,
        Mean as Mean,
        Moments as Moments,
        Parity as Parity,
        Prefix as Prefix,
        Queries as Queries,
        Ranges as Ranges,
        Workload as Workload,
        parse_workload as parse_workload,
    )
    from mechdesign.design.workload.search import optimal_workload as optimal_workload
else:
    __getattr__, __dir__ = facade(__name__, "decoder", "estimator")
