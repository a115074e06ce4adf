"""Ways to estimate a mean end to end, by name: published mechanisms, the optimum, square waves with EM, two phases."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from mechdesign.errors import require_name
from mechdesign.intervals import CONFIDENCE
from mechdesign.mechanisms import catalogue
from mechdesign.mechanisms.protocol import ScalarMechanism
from mechdesign.studies.frequencies.mean import EstimatedMean, calibrate, expected_error, mean_of_reports
from mechdesign.studies.frequencies.quantise import require_data
from mechdesign.studies.frequencies.square_wave import BINS, Reconstruction, estimate_by_em, estimate_by_ems
from mechdesign.studies.frequencies.two_phase import FORMS, SHARE, TwoPhasePlan, simulate_once
from mechdesign.values.declare import Floats, field, frozen, one_of
from mechdesign.words.classes import Unbiased
from mechdesign.words.domains import Interval
from mechdesign.words.losses import Power
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

TWO_PHASE, PAPER, CERTIFIED = "aaa", "aaa-paper", "certified-worst"
_RECONSTRUCTIONS: dict[str, Callable[..., Reconstruction]] = {"sw-em": estimate_by_em, "sw-ems": estimate_by_ems}
NAMES = (TWO_PHASE, PAPER, *_RECONSTRUCTIONS, *(entry.key for entry in catalogue.ON_INTERVALS), CERTIFIED)
"""``aaa`` estimates from both groups, ``aaa-paper`` from the second alone; ``sw-em`` and ``sw-ems`` reconstruct;
``certified-worst`` has the least worst variance of all unbiased mechanisms."""


@frozen
class Collected:
    """One simulated collection: the estimate, and its exact root mean squared error for these users.

    ``expected`` is None for reconstructions, whose error has no formula (nor has their estimate an interval); for the
    two-phase protocol it is that of the mechanism which was designed in this very run, as if fixed beforehand.
    ``bias`` is the largest that an input has: how much of it cancels for these users says nothing of others.
    """

    estimate: EstimatedMean
    expected: float | None
    bias: float = 0.0


@frozen
class MeanMethod:
    """A way to estimate a mean, with what the two-phase protocol and the reconstructions can be told.

    >>> method = MeanMethod("pm", 1.0, Interval(0, 1))
    >>> method.collect([0.2, 0.4, 0.9], np.random.default_rng(0)).estimate.users
    3
    """

    name: str = field(converter=lambda said: require_name(said, "mechanism", NAMES))
    epsilon: float
    inputs: Interval
    bins: int | None = None
    share: float = SHARE
    form: str = one_of("form", FORMS, default="additive")
    confidence: float = CONFIDENCE

    @property
    def is_two_phase(self) -> bool:
        return self.name in (TWO_PHASE, PAPER)

    def plan(self, users: int) -> TwoPhasePlan:
        """The two-phase plan for that many users."""
        weight = 0.0 if self.name == PAPER else None
        return TwoPhasePlan(self.epsilon, users, self.inputs, self.bins, self.share, weight, FORMS[self.form])

    def collect(self, values: ArrayLike, rng: np.random.Generator) -> Collected:
        """One collection from these users."""
        data = require_data(values, self.inputs, least=2)
        if self.is_two_phase:
            plan = self.plan(data.size)
            run = simulate_once(plan, data, rng, self.confidence)
            return Collected(run.estimate, plan.expected_error(data, run.mechanism))
        if self.name in _RECONSTRUCTIONS:
            return self._reconstruct(data, rng)
        mechanism = _mechanism(self.name, self.epsilon, self.inputs)
        estimate = mean_of_reports(mechanism.sample(data, rng), mechanism, self.confidence)
        line = calibrate(mechanism)
        return Collected(estimate, expected_error(mechanism, data), max(-line.least_bias, line.most_bias))

    def _reconstruct(self, data: Floats, rng: np.random.Generator) -> Collected:
        mechanism = catalogue.sw(self.epsilon, self.inputs)
        reports = mechanism.sample(data, rng)
        found = _RECONSTRUCTIONS[self.name](reports, mechanism, BINS if self.bins is None else self.bins)
        return Collected(EstimatedMean(found.mean, None, None, None, self.confidence, data.size), None)


@lru_cache(maxsize=16)
def _mechanism(name: str, epsilon: float, inputs: Interval) -> ScalarMechanism:
    """The published one of that name, or the certified optimum, which is searched once."""
    from mechdesign.methods.registry import solve

    if name != CERTIFIED:
        return catalogue.build(name, epsilon, inputs, Power(2.0))
    return solve(Problem(inputs=inputs, loss=Power(2.0), privacy=Pure(epsilon), among=Unbiased())).scalar_law
