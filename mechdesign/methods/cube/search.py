"""The least worst variance of two or three numbers: the workload of their means on a grid, and rounding to it."""

from __future__ import annotations

import math

from mechdesign.errors import NoAnswer
from mechdesign.methods.cube.proof import CubeBound, by_rounding, grid_problem
from mechdesign.methods.cube.supports import USUAL_LEVELS, CubeOptions, count_and_half, of_one_number
from mechdesign.methods.grid_prior import with_grid_prior
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design
from mechdesign.methods.workload.proof import WorkloadBound
from mechdesign.methods.workload.search import answer as workload_answer
from mechdesign.methods.workload.supports import WorkloadOptions
from mechdesign.values.declare import evolved
from mechdesign.words.problem import Problem

_GAP = 1e-3  # on the grid, or half of what is demanded
_NAME = "response on a grid"


def answer(problem: Problem, demands: Demands) -> Design:
    """Bounds for all real inputs; their gap is that of the grid and what rounding to it adds.

    A prior is rounded to the levels first, without moving its mean, and both ends are about the rounded one.

    >>> import mechdesign as md
    >>> asked = md.Problem(inputs=md.cube_of(2), loss=md.Squared(), privacy=md.Pure(2.0), among=md.Unbiased())
    >>> design = answer(asked, Demands(options=CubeOptions(5)))
    >>> design.certificate.lower <= 3.7985 <= design.certificate.upper <= 3.93
    True
    """
    count, half = count_and_half(problem)
    levels = (demands.options or CubeOptions()).levels or USUAL_LEVELS[count]
    rounding = float(by_rounding(count, levels))
    if problem.criterion.prior is not None:
        problem = evolved(problem, criterion=with_grid_prior(of_one_number(problem), levels).criterion)
        rounding = 0.0
    unit = float(half) ** 2
    inner = Demands(
        _GAP if demands.gap is None else min(_GAP, demands.gap / 2),
        demands.seconds,
        lambda lower, upper: demands.say(unit * lower, unit * (upper + rounding)),
        WorkloadOptions("space"),
    )
    try:
        found = workload_answer(grid_problem(problem, levels), inner)
    except NoAnswer as ended:
        if ended.design is None:
            raise NoAnswer(ended.reason, 0.0, math.inf) from None
        found = ended.design
    evidence = found.evidence
    assert isinstance(evidence, WorkloadBound)
    bound = CubeBound(evidence.dual.ravel(), evidence.prices, evidence.prior)
    report = evolved(found.report, details={**found.report.details, "levels": levels}, gap=demands.gap)
    design = Design(problem, evolved(found.mechanism, name=_NAME), bound, report)
    return demands.met_by(design, found.report.details.get("stopped", "more levels would be needed"))
