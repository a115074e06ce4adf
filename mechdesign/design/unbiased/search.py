"""The unbiased mechanism with the least variance under a prior over *all* epsilon-LDP mechanisms, with its proof.

**Formulation.** Inputs are n equispaced points of an interval with weights p. Reports are unbiased, ``E[Y|x] = x``, and
their outputs are free real numbers. Given a base measure mu (``mu <= q(.|x) <= c mu``) the best law of an input fills a
window [a, b] that gives it mean x (`mechdesign.mechanisms.unbiased_window`), and its variance is

    ``F_x(mu) = max over a <= b of (x - a)(b - x) + sum_y mu(y) phi((y - a)(y - b))``,  ``phi(t) = min(t, c t)``.

So the optimum is the least ``sum_x p_x F_x(mu)`` over mu. The window can be placed for every real input, not only for
the n: the mechanism is unbiased, and as private, on the whole interval.

**Program.** `mechdesign.design.unbiased.program` solves it on given outputs and yields a quadratic for each input.
Outputs adapt: where ``G(y) = sum_x phi(t_x(y))`` dips below zero between them a new output pays, so the places where
G is least are the outputs of the next round, until the dips cost less than the gap.

**Proof.** The quadratics of the inputs, in rational arithmetic (`mechdesign.design.unbiased.proof`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.result import Certificate, Design, Report, versions, within_gap
from mechdesign.design.unbiased.program import REACH, Optimum, solve
from mechdesign.design.unbiased.proof import CRITERION, UnbiasedPriorBound
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, require_epsilon, require_finite, require_seconds
from mechdesign.mechanisms.catalogue import SYMMETRIC, largest_safe_height
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.mechanisms.unbiased_window import UnbiasedWindow
from mechdesign.panels import integrate_between
from mechdesign.priors import Atoms, Density, Prior

Floats = NDArray[np.float64]

LEAST_EPSILON, MOST_EPSILON = 1e-3, 12.0
LEAST_SIZE, MOST_SIZE = 3, 513
LEAST_GAP = 1e-6

_NORMALISED = 1e-5  # how far from 1 the integral of a density may be
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
_WHOLE = 1e-12  # in steps between inputs


@dataclass(frozen=True, slots=True)
class UnbiasedProblem:
    """The least average variance under a prior over all unbiased epsilon-LDP mechanisms on an interval.

    The prior is rounded to ``size`` equispaced inputs, linearly and so without moving its mean: ``weights``. ``gap`` is
    the relative distance between the proven bounds at which the search stops.

    >>> from mechdesign.priors import uniform
    >>> UnbiasedProblem(1.0, uniform(Interval(0, 1)), Interval(0, 1), size=3).weights.round(12).tolist()
    [0.25, 0.5, 0.25]
    """

    epsilon: float
    prior: Prior
    inputs: Interval = SYMMETRIC
    size: int = 33
    gap: float = 1e-4
    weights: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified unbiased optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for an unbiased mechanism")
        is_whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if not is_whole or not LEAST_SIZE <= self.size <= MOST_SIZE:
            raise InvalidInput("size", self.size, f"be a whole number from {LEAST_SIZE} to {MOST_SIZE}")
        if not LEAST_GAP <= require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, f"lie between {LEAST_GAP:g} and 1")
        weights = grid_weights(self.prior, self.inputs, self.size)
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def is_rounded(self) -> bool:
        """Whether the prior is not already one on the equispaced inputs."""
        if isinstance(self.prior, Density):
            return True
        return not _are_whole(_places(self.prior, self.inputs, self.size)[self.prior.weights > 0])

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "unbiased",
            "epsilon": self.epsilon,
            "loss": "squared",
            "inputs": domain_to_dict(self.inputs),
            "criterion": CRITERION,
            "size": int(self.size),
            "prior": "density" if isinstance(self.prior, Density) else "atoms",
            "weights": self.weights.tolist(),
            "rounded": self.is_rounded,
            "gap": self.gap,
        }


def grid_weights(prior: Prior, inputs: Interval, size: int) -> Floats:
    """The prior on ``size`` equispaced points: mass between two of them goes to both, in the ratio that keeps its mean.

    >>> grid_weights(Atoms([0.1, 1.0], [0.5, 0.5]), Interval(0, 1), 3).round(12).tolist()
    [0.4, 0.1, 0.5]
    """
    if isinstance(prior, Atoms):
        place = _places(prior, inputs, size)
        if _are_whole(place):
            place = np.round(place)
        left = np.minimum(place.astype(np.intp), size - 2)
        return _spread(left, prior.weights, prior.weights * (place - left), size)
    if not isinstance(prior, Density):
        raise InvalidInput("prior", prior, "be priors.Atoms or priors.Density")
    if not isinstance(prior.domain, Interval) or not inputs.contains(prior.domain):
        raise InvalidInput("prior", f"{prior.name} on {prior.domain}", f"live inside the inputs {inputs}")
    grid = np.linspace(inputs.lower, inputs.upper, size)
    cells = np.array([_mass_and_share(prior, *ends) for ends in pairwise(grid.tolist())])
    weights = _spread(np.arange(size - 1), cells[:, 0], cells[:, 1], size)
    total = float(weights.sum())
    if not abs(total - 1) <= _NORMALISED:
        raise InvalidInput("prior", total, "integrate to 1", "divide the density by its integral")
    return weights / total


def _places(prior: Atoms, inputs: Interval, size: int) -> Floats:
    """The points of a prior in steps from the lower end."""
    places = (inputs.require(prior.points, "prior points") - inputs.lower) / inputs.length * (size - 1)
    return np.asarray(places, dtype=np.float64)


def _are_whole(places: Floats) -> bool:
    """Up to the rounding of equispaced doubles."""
    return bool((np.abs(places - np.round(places)) <= _WHOLE).all())


def _spread(left: NDArray[np.intp], masses: Floats, shares: Floats, size: int) -> Floats:
    """Each share of a mass goes to the right of its two points, the rest to the left one."""
    weights = np.bincount(left, masses - shares, size) + np.bincount(left + 1, shares, size)
    return np.asarray(np.maximum(weights, 0.0), dtype=np.float64)


def _mass_and_share(prior: Density, lower: float, upper: float) -> tuple[float, float]:
    """The mass in a cell, and what of it the upper end gets."""
    start, stop = max(lower, prior.domain.lower), min(upper, prior.domain.upper)
    if not start < stop:
        return 0.0, 0.0
    cuts = [start, *(cut for cut in prior.breakpoints if start < cut < stop), stop]
    mass = integrate_between(lambda x: _require_density(prior, x), cuts)
    share = integrate_between(lambda x: prior(x) * (x - lower) / (upper - lower), cuts)
    return mass, min(max(share, 0.0), mass)


def _require_density(prior: Density, x: Floats) -> Floats:
    values = prior(x)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise InvalidInput("prior", prior.name, "have a finite density of at least 0 inside its domain")
    return values


def optimal_unbiased(problem: UnbiasedProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` if the rounds or the time run out first, with the design found until then.

    >>> ends = Atoms([-1.0, 1.0], [0.5, 0.5])
    >>> design = optimal_unbiased(UnbiasedProblem(1.0, ends, size=3))  # coth(eps / 2)^2 - 1, Duchi's variance there
    >>> [round(end, 3) for end in (design.certificate.lower, design.certificate.upper)]
    [3.683, 3.683]
    """
    seconds = require_seconds(seconds)
    started = time.perf_counter()
    search = _Search(problem, math.inf if seconds is None else started + seconds)
    found = search.run()
    ends = problem.inputs
    evidence = replace(found.bound, lower=ends.lower, upper=ends.upper, rounded=problem.is_rounded)
    mechanism = _slim(problem, found.mechanism, evidence)
    lower, upper = evidence.bound(mechanism), evidence.attained(mechanism)
    stopped = "the time limit was reached" if search.is_late else "the search ended"
    certificate = Certificate(lower, upper, evidence.scope(mechanism), False, mechanism.privacy_loss(), evidence)
    name = problem.prior.name if isinstance(problem.prior, Density) else "atoms"
    details: dict[str, Any] = {"outputs": int(mechanism.points.size), "rounds": search.rounds}
    details |= {"steps": search.steps, "prior": name}
    if certificate.relative_gap > problem.gap:
        details["stopped"] = stopped
    report = Report(
        time.perf_counter() - started,
        "structured interior point",
        versions("numpy", "scipy"),
        MappingProxyType(details),
    )
    return within_gap(Design(problem, mechanism, certificate, report), problem.gap, stopped)


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A mechanism and a bound on [-1, 1], perhaps from different rounds, with their values."""

    mechanism: UnbiasedWindow
    upper: float
    bound: UnbiasedPriorBound
    lower: float

    def better_of(self, other: _Candidate | None) -> _Candidate:
        if other is None:
            return self
        primal = self if self.upper <= other.upper else other
        dual = self if self.lower >= other.lower else other
        return _Candidate(primal.mechanism, primal.upper, dual.bound, dual.lower)

    def is_within(self, gap: float) -> bool:
        return self.upper - self.lower <= gap * self.upper


class _Search:
    """The whole search on [-1, 1]: a program on given outputs, then on the outputs its quadratics ask for."""

    def __init__(self, problem: UnbiasedProblem, deadline: float) -> None:
        self.epsilon, self.gap, self.deadline = problem.epsilon, problem.gap, deadline
        self.weights = problem.weights
        self.inputs = np.linspace(-1.0, 1.0, problem.size)
        self.kept = self.weights > _TINY_WEIGHT * self.gap / problem.size
        self.kept[[0, -1]] = True  # reports are unbiased at the ends, and so between them, whatever their weight
        self.ratio = largest_safe_height(problem.epsilon, 1.0)
        self.reach = REACH / math.tanh(problem.epsilon / 2)
        self.rounds = self.steps = 0

    @property
    def is_late(self) -> bool:
        return time.perf_counter() >= self.deadline

    def run(self) -> _Candidate:
        outputs = np.linspace(-self.reach, self.reach, _FIRST_OUTPUTS)
        best: _Candidate | None = None
        program_gap = _FIRST_GAP
        while True:
            optimum = solve(
                self.inputs[self.kept],
                self.weights[self.kept],
                self.ratio,
                outputs,
                max(program_gap, _PROGRAM_SHARE * self.gap),
                self.deadline,
            )
            self.rounds += 1
            self.steps += optimum.steps
            mechanism, bound = self._mechanism(outputs, optimum.base), self._bound(optimum)
            here = _Candidate(mechanism, bound.attained(mechanism), bound, bound.bound(mechanism))
            best = here.better_of(best)
            if best.is_within(_MARGIN * self.gap) or self.rounds == _MOST_ROUNDS or self.is_late:
                return best
            program_gap = min(program_gap, _AHEAD * (best.upper - best.lower) / best.upper)
            outputs = self._wanted(outputs, bound, best.upper)

    def _mechanism(self, outputs: Floats, base: Floats) -> UnbiasedWindow:
        total = min(max(float(base.sum()), (1 + _ROUNDING) / self.ratio), 1 - _ROUNDING)
        return _fitted(self.epsilon, SYMMETRIC, *_without_slivers(outputs, base * (total / base.sum()), _SLIVERS[-1]))

    def _bound(self, optimum: Optimum) -> UnbiasedPriorBound:
        """Inputs left out of the program have a quadratic without effect, ``p (y - x)^2``."""
        offsets, slopes = np.zeros_like(self.weights), np.zeros_like(self.weights)
        offsets[self.kept], slopes[self.kept] = optimum.quadratics(self.weights[self.kept])
        return UnbiasedPriorBound(self.epsilon, -1.0, 1.0, self.weights, offsets, slopes)

    def _wanted(self, outputs: Floats, bound: UnbiasedPriorBound, value: float) -> Floats:
        """The places where G is at most a sliver above zero, and all outputs so far that are not beside one.

        Dropping outputs that look idle would be quicker, but the search might then go round in circles.
        """
        places, levels = _local_minima(self.inputs, bound, self.ratio)
        places = places[levels < self.gap * value]
        apart = _APART * math.sqrt(self.gap * value / self.ratio)
        around = np.concatenate([[-math.inf], places, [math.inf]])
        after = np.searchsorted(places, outputs)
        kept = outputs[(outputs - around[after] > apart) & (around[after + 1] - outputs > apart)]
        reach = max(self.reach, float(np.abs(places).max(initial=0.0)))
        return np.unique(np.concatenate([[-reach], places, kept, [reach]]))


def _local_minima(inputs: Floats, bound: UnbiasedPriorBound, ratio: float) -> tuple[Floats, Floats]:
    """Local minima of ``G(y)`` in doubles: the vertices that lie in their own piece, in increasing order."""
    weights, offsets, slopes = bound.weights, bound.offsets, bound.slopes
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


def _slim(problem: UnbiasedProblem, found: UnbiasedWindow, evidence: UnbiasedPriorBound) -> UnbiasedWindow:
    """The mechanism found, moved from [-1, 1] to the inputs, with as few outputs as a tenth of the gap pays for."""
    whole = _fitted(problem.epsilon, problem.inputs, found.points, found.base)
    most = evidence.attained(whole) * (1 + _SLIM_SHARE * problem.gap)
    for share in _SLIVERS:
        slim = _fitted(problem.epsilon, problem.inputs, *_without_slivers(found.points, found.base, share))
        if evidence.attained(slim) <= most:
            return slim
    return whole


def _without_slivers(points: Floats, base: Floats, share: float) -> tuple[Floats, Floats]:
    """Drop outputs with less than a share of the base; the others take over their mass."""
    kept = base > share * base.sum()
    return points[kept], base[kept] * (float(base.sum()) / float(base[kept].sum()))


def _fitted(epsilon: float, inputs: Interval, points: Floats, base: Floats) -> UnbiasedWindow:
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
    gains = (ratio - 1) * base[::-1]
    before = np.cumsum(gains) - gains
    extra = np.clip(1 - base.sum() - before, 0.0, gains)
    return float(base @ points + extra @ points[::-1])
