"""The cap, or the size of signed sets, with the greatest lean, in closed form: nothing is searched."""

from __future__ import annotations

import math
import time
from fractions import Fraction

from mechdesign.exact.caps import best_height, best_sizes, lean_of_signed_sets
from mechdesign.mechanisms.directions import CapReports, DirectionResponse, SignedSets
from mechdesign.methods.ball.proof import DirectionBound
from mechdesign.methods.ball.supports import vectors_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.words.problem import Problem
from mechdesign.words.vectors import CrossPolytope, Vectors

_TOWARDS_PRIVACY = 2.0**-50


def answer(problem: Problem, demands: Demands) -> Design:
    """Directions with the least worst variance, and the bound for all unbiased mechanisms.

    >>> import mechdesign as md
    >>> asked = md.Problem(inputs=md.Sphere(1024), loss=md.Squared(), privacy=md.Pure(4.0), among=md.Unbiased())
    >>> round(answer(asked, Demands()).certificate.upper / 1024, 4)
    0.4346
    """
    started = time.perf_counter()
    inputs = vectors_of(problem)
    ratio = math.exp(problem.epsilon) * (1 - _TOWARDS_PRIVACY)
    law = DirectionResponse(problem.epsilon, inputs, _best(inputs, problem.epsilon), ratio, "directions")
    report = Report(time.perf_counter() - started, "closed form", versions("numpy"), {}, demands.gap)
    return demands.met_by(Design(problem, law, DirectionBound(), report), "the closed form ended")


def _best(inputs: Vectors, epsilon: float) -> CapReports | SignedSets:
    if not isinstance(inputs, CrossPolytope):
        return CapReports(best_height(inputs.count, epsilon))
    ratio = Fraction(math.exp(epsilon))
    return SignedSets(
        max(best_sizes(inputs.count, ratio), key=lambda size: lean_of_signed_sets(inputs.count, size, ratio))
    )
