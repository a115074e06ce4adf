"""The certified optimum where inputs are finitely many numbers, such as the whole numbers 18 to 90.

**Program.** That of a loss matrix (`mechdesign.design.finite.search`) with the distances between the points: outputs
are the points themselves, so reports are data of the same kind. **Proof.** `mechdesign.design.points.proof`: for the
absolute error no other outputs are better.
"""

from __future__ import annotations

import time

import numpy as np

from mechdesign.design.finite.proof import FiniteBound
from mechdesign.design.finite.search import MOST_ENTRIES, FiniteProblem, optimal_finite
from mechdesign.design.points.proof import Floats, PointsBound, distances
from mechdesign.design.result import Certificate, Design, Problem, Report
from mechdesign.domains import Finite
from mechdesign.errors import InvalidInput
from mechdesign.losses import Loss, Power
from mechdesign.mechanisms.discrete import Discrete
from mechdesign.priors import Atoms, Prior

_MOST_POINTS = int(MOST_ENTRIES**0.5)


def require_points_problem(inputs: Finite, loss: Loss, prior: Prior | None = None) -> None:
    """A problem on points that can be solved and proven, or `InvalidInput`."""
    if loss not in (Power(1.0), Power(2.0)):
        step = "write the losses to a file and take --loss-matrix, optimal_finite"
        raise InvalidInput("loss", loss, "be absolute or squared on a finite domain", step)
    if not 2 <= len(inputs) <= _MOST_POINTS:
        step = "take the interval around them: --domain LO,HI, Interval(LO, HI)"
        raise InvalidInput("domain", str(inputs), f"have from 2 to {_MOST_POINTS} points", step)
    if prior is not None:
        weights_on(inputs, prior)


def weights_on(inputs: Finite, prior: Prior) -> Floats:
    """The weight of every point under a prior that lives on some of them."""
    if not isinstance(prior, Atoms):
        step = "take weights on the points, priors.Atoms, or data"
        raise InvalidInput("prior", prior.name, "have its weights on points of a finite domain", step)
    weights = np.zeros(len(inputs))
    np.add.at(weights, inputs.index(prior.points, "prior points"), prior.weights)
    return weights


def optimal_on_points(
    problem: Problem, inputs: Finite, loss: Loss, prior: Prior | None, gap: float, seconds: float | None
) -> Design:
    """The optimum of ``problem``, whose inputs are points: the worst case, or the average under a prior on them."""
    assert isinstance(loss, Power)
    started = time.perf_counter()
    exponent, weights = int(loss.exponent), None if prior is None else weights_on(inputs, prior)
    losses = distances(list(inputs.points), exponent)
    criterion = "worst" if weights is None else "prior"
    found = optimal_finite(FiniteProblem(problem.epsilon, losses, criterion, weights, gap), seconds)
    table, bound = found.mechanism, found.certificate.evidence
    assert isinstance(table, Discrete)
    assert isinstance(bound, FiniteBound)
    outputs = Finite(tuple(inputs.points[int(place)] for place in table.outputs.points))
    mechanism = Discrete(problem.epsilon, inputs, outputs, table.probabilities, "finite optimum")
    evidence = PointsBound(problem.epsilon, exponent, np.array(inputs.points), bound.levels, bound.weights, bound.prior)
    lower, upper = evidence.bound(mechanism), evidence.attained(mechanism)
    scope = evidence.scope(mechanism)
    certificate = Certificate(lower, upper, scope, False, mechanism.privacy_loss(), evidence)
    seconds_used = time.perf_counter() - started
    report = Report(seconds_used, found.report.solver, found.report.versions, found.report.details)
    return Design(problem, mechanism, certificate, report)
