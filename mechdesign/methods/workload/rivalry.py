"""The rivals of a design for a workload: published mechanisms, each with its best linear estimator of the shares."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from mechdesign.errors import InvalidInput
from mechdesign.exact.privacy import prove_privacy
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.mechanisms.protocol import Mechanism
from mechdesign.methods.result import Design
from mechdesign.methods.rivalry import Lost
from mechdesign.methods.workload.grid_proof import GridBound
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.rivals import channel_noise, rival_noises
from mechdesign.methods.workload.supports import workload_of
from mechdesign.values.declare import Floats
from mechdesign.words.criteria import Worst


class WorkloadRivalry:
    """Laws are the noise of each type, under the prior or else under the weights that prove the worst type."""

    def published(self, design: Design) -> Mapping[str, Floats]:
        return rival_noises(design.problem, _prior(design))

    def law_of(self, design: Design, name: str, mechanism: Mechanism) -> Floats:
        problem, prior = design.problem, _prior(design)
        if not isinstance(mechanism, Discrete) or mechanism.inputs != problem.inputs:
            raise InvalidInput(f"inputs of {name}", str(mechanism), f"be a table on the {len(prior)} types")
        prove_privacy(mechanism, problem.epsilon)
        return channel_noise(mechanism.probabilities, workload_of(problem).weighted, prior)

    def lost(self, design: Design, law: Floats) -> Lost:
        return Lost(float(law.max()), float(law @ _prior(design)))

    def certified(self, first: Design, design: Design) -> Lost:
        """The certificate has what the criterion is about, the estimator of the first the rest."""
        assert isinstance(design.mechanism, Discrete)
        prior, upper = _prior(first), design.certificate.upper
        noise = channel_noise(design.mechanism.probabilities, workload_of(first.problem).weighted, prior)
        is_worst = isinstance(first.problem.criterion, Worst)
        return Lost(upper, float(noise @ prior)) if is_worst else Lost(float(noise.max()), upper)

    def least(self, design: Design, lost: Lost) -> float | None:
        return None


def _prior(design: Design) -> Floats:
    assert isinstance(design.evidence, WorkloadBound | GridBound)
    said = design.evidence.weights_of_types(design.problem)
    return np.asarray(said / said.sum())


RIVALRY = WorkloadRivalry()
