"""AAA: noise with a law of its own for each input of a grid, optimal for a prior, with proof.

**Formulation.** Inputs are the N + 1 equispaced points of an interval, N = ``bins``; values between them are rounded at
random to their neighbours, which keeps their mean. Reports lie on the same grid continued to both sides. The program of
the paper (Eq. 15) minimises the average variance of the noise under epsilon-LDP; as printed it lacks
``E[A|x] = 0``, which is added here (it is in its Eq. 11), and ties laws only where both have entries of their own. Here
privacy holds wherever two laws meet in one report: up to ``M - 1`` steps beyond the inputs, M = ``reach``, each report
has its own base mass, and from M steps on all laws are geometric *from the same place*, with one ratio
``r = k / (k + 1)``, k = ``tail``. Any r is private then, since laws that are within e^eps of each other at the first
report of a tail are so at all of it. (In Eq. 13 the tails start at ``x - M`` and ``x + M``. That is a special case, and
a worse one where M is short: the tail of one end reaches back over all inputs, and by privacy the others cannot have
much there. Where M is many times N both are the same program.)

**Program.** Base mass t and laws between t and ``e^eps t`` (`mechdesign_solvers.interior`). As all laws decay by one
ratio from M steps on, a tail is one column: what is between base and ``c`` times base for its first report is so for
all of it. Its mean is k steps beyond its first report and its variance ``k (k + 1)``: whole numbers, nothing is cut
off. Given t the best laws top up a stretch of columns: variances in the tails do not change that, since a tail is
topped up only after the reports before it. So t is the mechanism (`mechdesign.mechanisms.conditional`).

**Proof.** A value and a slope for each input, in rational arithmetic, against all mechanisms that report on the grid,
whatever their tails; where M is so short that the tails matter, against those with the same tails
(`mechdesign.methods.additive.proof`). Reports that are free real numbers do better by what rounding them to the grid
costs: `mechdesign.methods.unbiased.search` bounds those.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
from mechdesign_solvers.interior import LawsOptimum, solve_laws
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.mechanisms.catalogue import largest_safe_height
from mechdesign.mechanisms.conditional import ConditionalNoise, column_places
from mechdesign.methods.additive.proof import AdditiveBound, Tails
from mechdesign.methods.additive.supports import grid_of, supports
from mechdesign.methods.grid_prior import weights_on_grid, with_grid_prior
from mechdesign.methods.line import line_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.losses import Power
from mechdesign.words.priors import Prior
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_NAME = "additive optimum"
_GAP, _LEAST_GAP = 1e-4, 1e-6  # unless another is demanded
_PROGRAM_SHARES = (0.3, 0.03, 0.003)  # of the gap, left to the program
_WHATEVER_SHARE = Fraction(1, 10)  # of the gap, that a proof against all tails may cost
_TINY_WEIGHT = 1e-5  # of the gap, over all inputs: such inputs are left out of the program
_ROUNDING = 1e-12
_SQUARED = Power(2.0)


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the time or the accuracy of doubles runs out, with the design until then.

    The design's own problem is the one its certificate is about: its prior is on the grid, reach and tail are said.

    >>> import mechdesign as md
    >>> ends, among = md.Average(md.priors.Atoms([-1.0, 1.0], [0.5, 0.5])), md.OnGrid(bins=16)
    >>> problem = md.Problem(inputs=(-1, 1), loss="squared", privacy=md.Pure(1.0), criterion=ends, among=among)
    >>> design = answer(problem, Demands())  # Duchi's 3.683 needs reports off the grid
    >>> [round(end, 3) for end in (design.certificate.lower, design.certificate.upper)]
    [3.686, 3.686]
    """
    (grid, *_), gap, clock = grid_of(problem), demands.within(_GAP, _LEAST_GAP), demands.clock()
    held = with_grid_prior(evolved(problem, among=grid), grid.bins + 1)
    with threadpool_limits(1, user_api="blas"):
        best, steps = _search(held, gap, clock)
    details = {"columns": int(best.mechanism.base.size), "steps": steps}
    report = Report(clock.used, "structured interior point", versions("numpy", "scipy"), details, gap)
    stopped = "the time limit was reached" if clock.is_over else "the search ended"
    return within_gap(saying_why(Design(held, best.mechanism, best.evidence, report), gap, stopped), gap, stopped)


def total_variance(mechanism: ConditionalNoise, prior: Prior) -> float:
    """The average variance under the prior itself, with what rounding to the grid adds.

    >>> import mechdesign as md
    >>> ends, grid = md.Average(md.priors.Atoms([-1.0, 1.0], [0.5, 0.5])), md.OnGrid(bins=2, reach=3, tail=1)
    >>> asked = md.Problem(inputs=(-1, 1), loss="squared", privacy=md.Pure(2.0), criterion=ends, among=grid)
    >>> mechanism = md.solve(asked).mechanism
    >>> between = total_variance(mechanism, md.priors.Atoms([0.5], [1.0]))
    >>> bool(abs(between - (mechanism.variance(0.0) + mechanism.variance(1.0)) / 2 - 0.25) < 1e-12)
    True
    """
    return mechanism.average_loss(_SQUARED, prior)


def _solve(problem: Problem, gap: float, share: float, clock: Clock) -> LawsOptimum:
    """The program on [-1, 1], without inputs of hardly any weight: windows serve those well enough."""
    grid, reach, tail = grid_of(problem)
    half, weights = grid.bins / 2, weights_on_grid(problem, grid.bins + 1)
    inputs = np.linspace(-1.0, 1.0, grid.bins + 1)
    kept = weights > _TINY_WEIGHT * gap / inputs.size
    kept[[0, -1]] = True  # reports are unbiased at the ends, and so between them, whatever their weight
    places = column_places(grid.bins, reach, tail) / half - 1
    spreads = np.zeros(places.size)
    spreads[[0, -1]] = tail * (tail + 1) / half**2
    ratio = largest_safe_height(problem.epsilon, 1.0)
    found = solve_laws(inputs[kept], weights[kept], ratio, places, share * gap, clock.deadline, spreads)
    values, slopes = np.zeros(inputs.size), np.zeros(inputs.size)
    values[kept], slopes[kept] = found.values, found.slopes
    return dataclasses.replace(found, values=values, slopes=slopes)


@frozen
class _Candidate:
    """A mechanism and a proof, perhaps from different programs, with their values."""

    mechanism: ConditionalNoise
    upper: float
    evidence: AdditiveBound
    lower: float

    def better_of(self, other: _Candidate) -> _Candidate:
        primal = self if self.upper <= other.upper else other
        dual = self if self.lower >= other.lower else other
        return _Candidate(primal.mechanism, primal.upper, dual.evidence, dual.lower)

    @property
    def gap(self) -> float:
        return (self.upper - self.lower) / self.upper


def _search(problem: Problem, gap: float, clock: Clock) -> tuple[_Candidate, int]:
    """The best mechanism and the best proof of programs that are solved ever more closely, and the steps it took."""
    optimum = _solve(problem, gap, _PROGRAM_SHARES[0], clock)
    best, steps = _candidate(problem, gap, optimum), optimum.steps
    for share in _PROGRAM_SHARES[1:]:
        if best.gap <= gap or clock.is_over:
            break
        optimum = _solve(problem, gap, share, clock)
        best, steps = _candidate(problem, gap, optimum).better_of(best), steps + optimum.steps
    return best, steps


def _candidate(problem: Problem, gap: float, optimum: LawsOptimum) -> _Candidate:
    mechanism, evidence = _mechanism(problem, optimum.base), _evidence(problem, gap, optimum)
    upper, lower = evidence.attained(problem, mechanism), evidence.bound(problem, mechanism)
    return _Candidate(mechanism, upper, evidence, lower)


def _mechanism(problem: Problem, base: Floats) -> ConditionalNoise:
    """The mechanism of a base measure, moved outwards by what rounding takes from the means at the ends."""
    ratio, inputs = largest_safe_height(problem.epsilon, 1.0), line_of(problem, supports).inputs
    total = min(max(float(base.sum()), (1 + _ROUNDING) / ratio), 1 - _ROUNDING)
    outer = np.zeros(base.size)
    outer[[0, -1]] = 1 / (1 + ratio)  # as Duchi's: reaches further than any other
    grid, reach, tail = grid_of(problem)
    for share in (0.0, *(2.0**k for k in range(-50, -10))):
        moved = (1 - share) * base * (total / base.sum()) + share * outer
        try:
            return ConditionalNoise(problem.epsilon, inputs, grid.bins, reach, tail, moved, ratio, _NAME)
        except InvalidInput:
            continue
    raise CheckFailed("the base measure cannot carry an unbiased mechanism")


def _evidence(problem: Problem, gap: float, optimum: LawsOptimum) -> AdditiveBound:
    """Against all tails if that costs next to nothing, else against the tails of the problem."""
    half = (optimum.values.size - 1) / 2
    # weights as they are, duals in steps: p (y - x)^2 - s (y - x) - v
    same_tails = AdditiveBound(optimum.values * half**2, optimum.slopes * half, Tails.SAME)
    all_tails = evolved(same_tails, tails=Tails.ALL)
    most = 1 - _WHATEVER_SHARE * Fraction(gap)
    return all_tails if all_tails.value(problem) >= same_tails.value(problem) * most else same_tails
