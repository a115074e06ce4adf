"""The unbiased mechanism with the least variance under a prior over *all* epsilon-LDP mechanisms, with its proof.

**Formulation.** Inputs are n equispaced points of an interval with weights p. Reports are unbiased, ``E[Y|x] = x``, and
their outputs are free real numbers. Given a base measure mu (``mu <= q(.|x) <= c mu``) the best law of an input fills a
window [a, b] that gives it mean x (`mechdesign.mechanisms.unbiased_window`), and its variance is

    ``F_x(mu) = max over a <= b of (x - a)(b - x) + sum_y mu(y) phi((y - a)(y - b))``,  ``phi(t) = min(t, c t)``.

So the optimum is the least ``sum_x p_x F_x(mu)`` over mu. The window can be placed for every real input, not only for
the n: the mechanism is unbiased, and as private, on the whole interval.

**Program.** `mechdesign_solvers.interior` solves it on given outputs and yields a quadratic for each input.
Outputs adapt: where ``G(y) = sum_x phi(t_x(y))`` dips below zero between them a new output pays, so the places where
G is least are the outputs of the next round, until the dips cost less than the gap.

**Proof.** The quadratics of the inputs, in rational arithmetic (`mechdesign.methods.unbiased.proof`).
"""

from __future__ import annotations

import math

import numpy as np
from mechdesign_solvers.interior import LawsOptimum, solve_laws
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from mechdesign.errors import CheckFailed, InvalidInput
from mechdesign.exact.rational import float_down, float_up
from mechdesign.mechanisms.catalogue import SYMMETRIC, largest_safe_height
from mechdesign.mechanisms.fill import filled
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.methods.grid_prior import weights_on_grid, with_grid_prior
from mechdesign.methods.line import line_of
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.unbiased.proof import UnbiasedPriorBound, variance_under
from mechdesign.methods.unbiased.supports import UnbiasedOptions, supports
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen
from mechdesign.words.domains import Interval
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_GAP, _LEAST_GAP = 1e-4, 1e-6  # unless another is demanded
_REACH = 2.2  # times coth(eps / 2): outputs that the search starts with, and at least keeps
_MOST_ROUNDS = 30
_FIRST_OUTPUTS = 65
_FIRST_GAP = 1e-3  # of the first program, relative as all gaps
_PROGRAM_SHARE = 0.1  # of the gap, left to the program on given outputs
_AHEAD = 0.03  # of the gap reached so far: more accuracy would be spent on the wrong outputs
_MARGIN = 0.85  # of the gap: the rest is for fewer outputs, and for rounding them onto other intervals
_SLIM_SHARE = 0.1
_TINY_WEIGHT = 1e-5  # of the gap, over all inputs: such inputs are left out of the program
_SLIVERS = (1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)  # of the base: outputs with less are dropped
_APART = 0.1  # times the distance over which G, of curvature up to c, rises by gap * optimum: closer outputs are one
_ROUNDING = 1e-12


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the rounds or the time run out first, with the design found until then.

    The design's own problem has the prior that its certificate is about: that on equispaced inputs.

    >>> import mechdesign as md
    >>> ends = md.Average(md.priors.Atoms([-1.0, 1.0], [0.5, 0.5]))
    >>> asked = md.Problem(inputs=(-1, 1), loss="squared", privacy=md.Pure(1), criterion=ends, among=md.Unbiased())
    >>> design = answer(asked, Demands(options=UnbiasedOptions(size=3)))  # coth(eps / 2)^2 - 1, Duchi's variance there
    >>> [round(end, 3) for end in (design.certificate.lower, design.certificate.upper)]
    [3.683, 3.683]
    """
    size = (demands.options or UnbiasedOptions()).size
    inputs, held = line_of(problem, supports).inputs, with_grid_prior(problem, size)
    weights, gap = weights_on_grid(held, size), demands.within(_GAP, _LEAST_GAP)
    search = _OutputSearch(problem.epsilon, weights, gap, demands.clock())
    with threadpool_limits(1, user_api="blas"):
        found = search.run()
    mechanism = _slim(inputs, weights, gap, found.mechanism)
    details = {"outputs": int(mechanism.points.size), "rounds": search.rounds, "steps": search.steps}
    report = Report(search.clock.used, "structured interior point", versions("numpy", "scipy"), details, gap)
    stopped = "the time limit was reached" if search.clock.is_over else "the search ended"
    return within_gap(saying_why(Design(held, mechanism, found.evidence, report), gap, stopped), gap, stopped)


@frozen
class _Candidate:
    """A mechanism and a bound on [-1, 1], perhaps from different rounds, with their values."""

    mechanism: UnbiasedWindow
    upper: float
    evidence: UnbiasedPriorBound
    lower: float

    def better_of(self, other: _Candidate | None) -> _Candidate:
        if other is None:
            return self
        primal = self if self.upper <= other.upper else other
        dual = self if self.lower >= other.lower else other
        return _Candidate(primal.mechanism, primal.upper, dual.evidence, dual.lower)

    def is_within(self, gap: float) -> bool:
        return self.upper - self.lower <= gap * self.upper


class _OutputSearch:
    """The whole search on [-1, 1]: a program on given outputs, then on the outputs its quadratics ask for."""

    def __init__(self, epsilon: float, weights: Floats, gap: float, clock: Clock) -> None:
        self.epsilon, self.weights, self.gap, self.clock = epsilon, weights, gap, clock
        self.inputs = np.linspace(-1.0, 1.0, weights.size)
        self.kept = weights > _TINY_WEIGHT * gap / weights.size
        self.kept[[0, -1]] = True  # reports are unbiased at the ends, and so between them, whatever their weight
        self.ratio = largest_safe_height(epsilon, 1.0)
        self.reach = _REACH / math.tanh(epsilon / 2)
        self.is_mirrored = np.array_equal(self.weights, self.weights[::-1])
        self.rounds = self.steps = 0

    def run(self) -> _Candidate:
        outputs = np.linspace(-self.reach, self.reach, _FIRST_OUTPUTS)
        best: _Candidate | None = None
        program_gap = _FIRST_GAP
        while True:
            share = max(program_gap, _PROGRAM_SHARE * self.gap)
            kept = self.inputs[self.kept], self.weights[self.kept]
            optimum = solve_laws(*kept, self.ratio, outputs, share, self.clock.deadline)
            self.rounds += 1
            self.steps += optimum.steps
            mechanism, evidence = self._mechanism(outputs, optimum.base), self._evidence(optimum)
            upper = float_up(variance_under(mechanism, self.weights))
            lower = float_down(evidence.value(self.epsilon, self.weights))
            here = _Candidate(mechanism, upper, evidence, max(0.0, lower))
            best = here.better_of(best)
            if best.is_within(_MARGIN * self.gap) or self.rounds == _MOST_ROUNDS or self.clock.is_over:
                return best
            program_gap = min(program_gap, _AHEAD * (best.upper - best.lower) / best.upper)
            outputs = self._wanted(outputs, evidence, best.upper)

    def _mechanism(self, outputs: Floats, base: Floats) -> UnbiasedWindow:
        total = min(max(float(base.sum()), (1 + _ROUNDING) / self.ratio), 1 - _ROUNDING)
        return fitted(self.epsilon, SYMMETRIC, *_without_slivers(outputs, base * (total / base.sum()), _SLIVERS[-1]))

    def _evidence(self, optimum: LawsOptimum) -> UnbiasedPriorBound:
        """Inputs left out of the program have a quadratic without effect, ``p (y - x)^2``."""
        offsets, slopes = np.zeros_like(self.weights), np.zeros_like(self.weights)
        offsets[self.kept], slopes[self.kept] = _roots(optimum, self.weights[self.kept])
        return UnbiasedPriorBound(offsets, slopes)

    def _wanted(self, outputs: Floats, evidence: UnbiasedPriorBound, value: float) -> Floats:
        """The places where G is at most a sliver above zero, and all outputs so far that are not beside one.

        Dropping outputs that look idle would be quicker, but the search might then go round in circles.
        """
        places, levels = _local_minima(self.inputs, self.weights, evidence, self.ratio)
        places = places[levels < self.gap * value]
        apart = _APART * math.sqrt(self.gap * value / self.ratio)
        around = np.concatenate([[-math.inf], places, [math.inf]])
        after = np.searchsorted(places, outputs)
        kept = outputs[(outputs - around[after] > apart) & (around[after + 1] - outputs > apart)]
        reach = max(self.reach, float(np.abs(places).max(initial=0.0)))
        found = np.concatenate([[-reach], places, kept, [reach]])
        if self.is_mirrored:  # then the program can be folded
            found = found[found >= 0]
            found = np.concatenate([-found[::-1], found])
        return np.unique(found)


def _roots(optimum: LawsOptimum, weights: Floats) -> tuple[Floats, Floats]:
    """Offset b and slope s with ``p h^2 - slope h - value = (h - b)(p h + s)``, b being the root of least size."""
    root = np.sqrt(np.maximum(optimum.slopes**2 + 4 * weights * optimum.values, 0.0))
    far = (optimum.slopes + np.copysign(root, optimum.slopes)) / 2  # p times the other root: nothing cancels
    offsets = np.divide(-optimum.values, far, out=np.zeros_like(far), where=far != 0)
    return offsets, -far


def _local_minima(inputs: Floats, weights: Floats, evidence: UnbiasedPriorBound, ratio: float) -> tuple[Floats, Floats]:
    """Local minima of ``G(y)`` in doubles: the vertices that lie in their own piece, in increasing order."""
    offsets, slopes = evidence.offsets, evidence.slopes
    live = (weights > 0) | (slopes != 0)
    x, p, b, s = inputs[live], weights[live], offsets[live], slopes[live]

    def terms(y: Floats) -> Floats:
        far = y[:, None] - x
        return np.asarray((far - b) * (p * far + s))

    with np.errstate(over="ignore"):
        roots = np.concatenate([x + b, x[p > 0] - s[p > 0] / p[p > 0]])
    most = 1e3 * (1 + float(np.abs(x + b).max()))  # beyond it G only grows
    events = np.unique(roots[np.abs(roots) < most])
    edges = np.concatenate([[-most], events, [most]])
    factors = np.where(terms((edges[:-1] + edges[1:]) / 2) < 0, ratio, 1.0)
    vertices = (factors @ (p * (2 * x + b) - s)) / (2 * (factors @ p))
    vertices = vertices[(vertices >= edges[:-1]) & (vertices <= edges[1:])]
    values = terms(vertices)
    return vertices, np.sum(np.minimum(values, ratio * values), axis=1)


def _slim(inputs: Interval, weights: Floats, gap: float, found: UnbiasedWindow) -> UnbiasedWindow:
    """The mechanism found, moved from [-1, 1] to the inputs, with as few outputs as a tenth of the gap pays for."""
    whole = fitted(found.epsilon, inputs, found.points, found.base)
    most = float_up(variance_under(whole, weights)) * (1 + _SLIM_SHARE * gap)
    for share in _SLIVERS:
        slim = fitted(found.epsilon, inputs, *_without_slivers(found.points, found.base, share))
        if float_up(variance_under(slim, weights)) <= most:
            return slim
    return whole


def _without_slivers(points: Floats, base: Floats, share: float) -> tuple[Floats, Floats]:
    """Drop outputs with less than a share of the base; the others take over their mass."""
    kept = base > share * base.sum()
    return points[kept], base[kept] * (float(base.sum()) / float(base[kept].sum()))


def fitted(epsilon: float, inputs: Interval, points: Floats, base: Floats) -> UnbiasedWindow:
    """The mechanism with outputs given as if on [-1, 1], stretched until the means of its laws cover the inputs."""
    ratio = largest_safe_height(epsilon, 1.0)
    least = min(_largest_mean(points, base, ratio), _largest_mean(-points[::-1], base[::-1], ratio))
    if not least > 0:
        raise CheckFailed("the base measure cannot carry an unbiased mechanism")
    stretch = max(1.0, 1 / least)
    spacing = math.ulp(1.0) + math.ulp(max(abs(inputs.lower), abs(inputs.upper))) / inputs.length
    for attempt in range(24):
        places = inputs.middle + inputs.length / 2 * (points * stretch)
        # on an interval far from zero neighbouring outputs may round to one double
        unique, where = np.unique(places, return_inverse=True)
        try:
            masses = np.asarray(np.bincount(where, weights=base), dtype=np.float64)
            return UnbiasedWindow(epsilon, inputs, unique, masses, ratio, "unbiased optimum")
        except InvalidInput:
            stretch += spacing * 2**attempt
    raise CheckFailed(f"no unbiased mechanism on {inputs} near the one found: the doubles there are too far apart")


def _largest_mean(points: Floats, base: Floats, ratio: float) -> float:
    """The mean of the law whose window is at the right end."""
    extra = filled((ratio - 1) * base[::-1], 1 - base.sum())
    return float(base @ points + extra @ points[::-1])
