"""Any linear queries about the shares of k types, answered with the least noise."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.workload.decoder import decoder as decoder
    from mechdesign.methods.workload.estimator import estimator as estimator, query_noises as query_noises
    from mechdesign.methods.workload.grid_proof import GridBound as GridBound
    from mechdesign.methods.workload.pricing import Bits as Bits, swept as swept
    from mechdesign.methods.workload.problem import WorkloadProblem as WorkloadProblem
    from mechdesign.methods.workload.proof import WorkloadBound as WorkloadBound
    from mechdesign.methods.workload.queries import (
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
    from mechdesign.methods.workload.search import optimal_workload as optimal_workload
else:
    __getattr__, __dir__ = facade(__name__, "decoder", "estimator")
