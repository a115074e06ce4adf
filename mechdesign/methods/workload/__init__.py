"""Any linear queries about the shares of k types, answered with the least noise."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.methods.workload.decoder import decoder as decoder
    from mechdesign.methods.workload.estimator import estimator as estimator, query_noises as query_noises
    from mechdesign.methods.workload.grid_proof import GridBound as GridBound
    from mechdesign.methods.workload.pricing import Bits as Bits, swept as swept
    from mechdesign.methods.workload.proof import WorkloadBound as WorkloadBound
else:
    __getattr__, __dir__ = facade(__name__, "decoder", "estimator")
