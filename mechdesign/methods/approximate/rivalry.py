"""The rivals of a design with a delta: those without one, and randomised response that uses it."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from mechdesign.mechanisms.discrete import Discrete
from mechdesign.methods.approximate.supports import asked_of
from mechdesign.methods.finite.rivalry import MatrixRivalry
from mechdesign.methods.result import Design
from mechdesign.words.domains import Finite

RESPONSE = "randomised response with delta"
_SAFE = 1 - 1e-12  # of delta: what rounding may not take


class ApproximateRivalry(MatrixRivalry):
    """What is epsilon-LDP is (epsilon, delta)-LDP for every delta."""

    def published(self, design: Design) -> Mapping[str, Discrete]:
        problem = design.problem
        losses, privacy = asked_of(problem)
        inputs, outputs = losses.shape
        found = dict(super().published(design))
        if inputs == outputs:
            lie = (1 - _SAFE * privacy.delta) / (math.exp(privacy.epsilon) * _SAFE + inputs - 1)
            rows = np.full((inputs, inputs), lie) + np.eye(inputs) * (1 - inputs * lie)
            found[RESPONSE] = Discrete(privacy.epsilon, problem.numbers, Finite(tuple(range(inputs))), rows, RESPONSE)
        return found


RIVALRY = ApproximateRivalry()
