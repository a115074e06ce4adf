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

**Program.** Base mass t and laws between t and ``e^eps t``, two columns for the tails
(`mechdesign.design.additive.program`). Given t the best laws top up a stretch of columns: variances in the tails do not
change that, since a tail is topped up only after the reports before it. So t is the mechanism
(`mechdesign.mechanisms.conditional`).

**Proof.** A value and a slope for each input, in rational arithmetic, against all mechanisms that report on the grid,
whatever their tails; where M is so short that the tails matter, against those with the same tails
(`mechdesign.design.additive.proof`). Reports that are free real numbers do better by what rounding them to the grid
costs: `mechdesign.design.unbiased.search` bounds those.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.additive.program import solve_columns
from mechdesign.design.additive.proof import AdditiveBound
from mechdesign.design.result import Certificate, Design, Report, versions
from mechdesign.design.unbiased.program import Optimum
from mechdesign.design.unbiased.proof import CRITERION
from mechdesign.design.unbiased.search import UnbiasedProblem, grid_weights
from mechdesign.domains import Interval
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer, require_epsilon, require_finite, require_seconds
from mechdesign.losses import Power
from mechdesign.mechanisms.catalogue import SYMMETRIC, largest_safe_height
from mechdesign.mechanisms.conditional import LARGEST, ConditionalNoise, column_places, require_shape, require_whole
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.priors import Density, Prior

Floats = NDArray[np.float64]

LEAST_EPSILON, MOST_EPSILON = 1e-3, 12.0
LEAST_BINS, MOST_BINS = 2, 512
LEAST_GAP = 1e-6

_USUAL_SPAN = 4  # reports reach this many lengths of the domain beyond it, unless eps asks for more
_REACH, _LEAST_REACH = 1.5, 1.25  # times coth(eps / 2), the reach without which nothing is unbiased
_BARE_REACH = 1 + 1e-3
_PROGRAM_SHARES = (0.3, 0.03, 0.003)  # of the gap, left to the program
_WHATEVER_SHARE = Fraction(1, 10)  # of the gap, that a proof against all tails may cost
_TINY_WEIGHT = 1e-5  # of the gap, over all inputs: such inputs are left out of the program
_ROUNDING = 1e-12
_SQUARED = Power(2.0)
USUAL_BINS = 32
_FIRST_BINS, _MOST_TRIED = 4, 128
_LEAST_WITHIN = 1e-4


@dataclass(frozen=True, slots=True)
class AdditiveProblem:
    """The least average variance under a prior over unbiased epsilon-LDP mechanisms that report on a grid.

    The prior is rounded to the ``bins + 1`` inputs of the grid, linearly and so without moving its mean: ``weights``.
    ``reach`` and ``tail`` say where the tails begin and how they decay; left out, they are chosen so that tails hardly
    matter. ``gap`` is the relative distance between the proven bounds to reach.

    >>> from mechdesign.priors import uniform
    >>> problem = AdditiveProblem(1.0, uniform(Interval(0, 1)), Interval(0, 1), bins=2)
    >>> problem.weights.round(12).tolist(), problem.reach, problem.tail
    ([0.25, 0.5, 0.25], 8, 1)
    """

    epsilon: float
    prior: Prior
    inputs: Interval = SYMMETRIC
    bins: int = USUAL_BINS
    reach: int = 0
    tail: int = 0
    gap: float = 1e-4
    weights: Floats = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_epsilon(self.epsilon))
        if not LEAST_EPSILON <= self.epsilon <= MOST_EPSILON:
            rule = f"lie between {LEAST_EPSILON:g} and {MOST_EPSILON:g} for a certified additive optimum"
            raise InvalidInput("eps", self.epsilon, rule)
        if not isinstance(self.inputs, Interval):
            raise InvalidInput("domain", str(self.inputs), "be an interval for additive noise")
        require_whole(self.bins, "bins", LEAST_BINS, MOST_BINS)
        for name in ("reach", "tail"):
            require_whole(getattr(self, name), name, 0, LARGEST)
        bins, needed = int(self.bins), 1 / math.tanh(self.epsilon / 2)
        if not self.reach and not fits(self.epsilon, bins):
            rule = f"be at least {_least_epsilon(bins):g} with {bins} bins"
            raise InvalidInput("eps", self.epsilon, rule, "take fewer bins")
        usual = max(_USUAL_SPAN * bins, math.ceil(bins * (_REACH * needed - 1) / 2))
        reach = int(self.reach) or min(usual, _most_reach(bins))
        missing = math.ceil(bins * (_LEAST_REACH * needed - 1) / 2) - reach
        tail = int(self.tail) or max(1, missing)
        require_shape(bins, reach, tail)
        if bins / 2 + reach + tail < _BARE_REACH * needed * bins / 2:
            rule = f"reach {math.ceil(_BARE_REACH * needed * bins / 2 - bins / 2)} steps together"
            raise InvalidInput("reach and tail", (reach, tail), rule, "leave out tail, or raise reach")
        for name, value in (("bins", bins), ("reach", reach), ("tail", tail)):
            object.__setattr__(self, name, value)
        if not LEAST_GAP <= require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, f"lie between {LEAST_GAP:g} and 1")
        weights = grid_weights(self.prior, self.inputs, self.bins + 1)
        weights.setflags(write=False)
        object.__setattr__(self, "weights", weights)

    @property
    def free(self) -> UnbiasedProblem:
        """The same problem with reports that are any real numbers."""
        return UnbiasedProblem(self.epsilon, self.prior, self.inputs, self.bins + 1, self.gap)

    @property
    def span(self) -> float:
        """The paper's ``q = |A| / |X|``: the noise from -M to M steps, over the inputs."""
        return _span(self.bins, self.reach)

    @property
    def is_rounded(self) -> bool:
        """Whether the prior is not already one on the grid."""
        return self.free.is_rounded

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": "additive",
            "epsilon": self.epsilon,
            "loss": "squared",
            "inputs": domain_to_dict(self.inputs),
            "criterion": CRITERION,
            "bins": self.bins,
            "reach": self.reach,
            "tail": self.tail,
            "prior": "density" if isinstance(self.prior, Density) else "atoms",
            "weights": self.weights.tolist(),
            "rounded": self.is_rounded,
            "gap": self.gap,
        }


def _span(bins: int, reach: int) -> float:
    return (2 * reach + 1) / (bins + 1)


def usual_bins(epsilon: float) -> int:
    """The usual number of bins, or the half of it where epsilon asks for so long a reach that more would not fit.

    >>> usual_bins(1.0), usual_bins(1e-3)
    (32, 16)
    """
    return USUAL_BINS if fits(epsilon, USUAL_BINS) else USUAL_BINS // 2


def fits(epsilon: float, bins: int) -> bool:
    """Whether the reach that this epsilon needs fits into the table of laws.

    >>> fits(1.0, 512), fits(1e-3, 64)
    (True, False)
    """
    return bins * (_REACH / math.tanh(epsilon / 2) - 1) / 2 <= _most_reach(bins)


def _most_reach(bins: int) -> int:
    return (LARGEST // (bins + 1) - bins - 1) // 2


def _least_epsilon(bins: int) -> float:
    """The smallest epsilon that `fits`, in three digits."""
    least = 2 * math.atanh(_REACH / (2 * _most_reach(bins) / bins + 1))
    digit = 10.0 ** (math.floor(math.log10(least)) - 2)
    return float(f"{math.ceil(least / digit) * digit:.3g}")


def optimal_additive(problem: AdditiveProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` with the proven bounds if the time or the accuracy of doubles runs out.

    >>> from mechdesign.priors import Atoms
    >>> ends = Atoms([-1.0, 1.0], [0.5, 0.5])
    >>> design = optimal_additive(AdditiveProblem(1.0, ends, bins=16))  # Duchi's 3.683 needs reports off the grid
    >>> [round(end, 3) for end in (design.certificate.lower, design.certificate.upper)]
    [3.686, 3.686]
    """
    seconds = require_seconds(seconds)
    started = time.perf_counter()
    deadline = math.inf if seconds is None else started + seconds
    best, steps = _search(problem, deadline)
    if best.gap > problem.gap:
        why = "the time limit was reached" if time.perf_counter() >= deadline else "the search ended"
        raise NoAnswer(f"{why} at a relative gap of {best.gap:.2g}", best.lower, best.upper)
    mechanism, evidence = best.mechanism, best.evidence
    scope = evidence.scope(mechanism)
    certificate = Certificate(best.lower, best.upper, scope, False, mechanism.privacy_loss(), evidence)
    # a name is what the user says: reports are read as they were written, problems are checked
    name = problem.prior.name if isinstance(problem.prior, Density) else "atoms"
    details = {"columns": int(mechanism.base.size), "steps": steps, "prior": name}
    report = Report(
        time.perf_counter() - started,
        "structured interior point",
        versions("numpy", "scipy"),
        MappingProxyType(details),
    )
    return Design(problem, mechanism, certificate, report)


def total_variance(mechanism: ConditionalNoise, prior: Prior) -> float:
    """The average variance under the prior itself, with what rounding to the grid adds.

    >>> from mechdesign.priors import Atoms
    >>> mechanism = optimal_additive(AdditiveProblem(1.0, Atoms([0.0], [1.0]), bins=2)).mechanism
    >>> between = total_variance(mechanism, Atoms([0.5], [1.0]))
    >>> bool(abs(between - (mechanism.variance(0.0) + mechanism.variance(1.0)) / 2 - 0.25) < 1e-12)
    True
    """
    return mechanism.average_loss(_SQUARED, prior)


@dataclass(frozen=True, slots=True)
class Trial:
    """A grid that was tried: average variance on it, and in ``total`` with what rounding to it adds."""

    bins: int
    reach: int
    variance: float
    total: float
    seconds: float

    @property
    def span(self) -> float:
        """The paper's ``q = |A| / |X|``."""
        return _span(self.bins, self.reach)


@dataclass(frozen=True, slots=True)
class Tuning:
    """The design that was chosen with its trial, and all grids that were tried on the way.

    ``stopped`` says what ended the search before finer grids, or a shorter reach, were known to be of no use.
    """

    design: Design
    best: Trial
    trials: tuple[Trial, ...]
    stopped: str | None = None


def tune(
    epsilon: float,
    prior: Prior,
    inputs: Interval = SYMMETRIC,
    within: float = 1e-3,
    most_bins: int = _MOST_TRIED,
    seconds: float | None = None,
) -> Tuning:
    """The coarsest grid, and then the shortest reach, whose total variance is ``within`` of the best one tried.

    Grids that double their bins only get better: the mechanism of a grid is one on the next. Doubling ends where it
    gains less than half of ``within``, halving the reach where that costs more than what is left of it. If
    ``most_bins`` or ``seconds`` end the search before, the best grid so far is the answer and ``stopped`` says why; a
    search without any grid is `NoAnswer`.

    >>> from mechdesign.priors import normal
    >>> tuning = tune(1.0, normal(0, 0.2, SYMMETRIC), within=0.01)
    >>> tuning.best.bins, len(tuning.trials)
    (8, 6)
    """
    if not _LEAST_WITHIN <= require_finite(within, "within") < 1:
        raise InvalidInput("within", within, f"lie between {_LEAST_WITHIN:g} and 1")
    require_whole(most_bins, "most bins", _FIRST_BINS, MOST_BINS)
    deadline = math.inf if seconds is None else time.perf_counter() + require_finite(seconds, "seconds")
    trials: list[Trial] = []
    designs: list[Design] = []

    def attempt(bins: int, reach: int) -> float:
        problem = AdditiveProblem(epsilon, prior, inputs, bins, reach, gap=within / 10)
        left = None if seconds is None else max(deadline - time.perf_counter(), 1e-3)
        design = optimal_additive(problem, left)
        assert isinstance(design.mechanism, ConditionalNoise)
        total = total_variance(design.mechanism, prior)
        trials.append(Trial(bins, problem.reach, design.certificate.upper, total, design.report.seconds))
        designs.append(design)
        return total

    stopped = gained = None
    last, bins = attempt(_FIRST_BINS, 0), 2 * _FIRST_BINS
    try:
        while bins <= most_bins and fits(epsilon, bins):
            total = attempt(bins, 0)
            gained = (last - total) / total
            if gained <= within / 2:
                break
            last, bins = total, 2 * bins
        else:
            tail = "" if gained is None else f", although the last doubling still gained {100 * gained:.2g}%"
            stopped = f"grids of more than {bins // 2} bins were not tried{tail}"
    except NoAnswer as ended:
        stopped = f"the grid of {bins} bins was not solved: {ended.reason}"
    most = (1 + within) * min(trial.total for trial in trials)
    best = next(k for k, trial in enumerate(trials) if trial.total <= most)
    try:
        while trials[best].reach > 1 and attempt(trials[best].bins, trials[best].reach // 2) <= most:
            best = len(trials) - 1
    except NoAnswer as ended:
        stopped = stopped or f"a shorter reach than {trials[best].reach} steps was not solved: {ended.reason}"
    return Tuning(designs[best], trials[best], tuple(trials), stopped)


def _solve(problem: AdditiveProblem, gap: float, deadline: float) -> Optimum:
    """The program on [-1, 1], without inputs of hardly any weight: windows serve those well enough."""
    half = problem.bins / 2
    inputs = np.linspace(-1.0, 1.0, problem.bins + 1)
    kept = problem.weights > _TINY_WEIGHT * problem.gap / inputs.size
    kept[[0, -1]] = True  # reports are unbiased at the ends, and so between them, whatever their weight
    places = column_places(problem.bins, problem.reach, problem.tail) / half - 1
    spreads = np.zeros(places.size)
    spreads[[0, -1]] = problem.tail * (problem.tail + 1) / half**2
    ratio = largest_safe_height(problem.epsilon, 1.0)
    found = solve_columns(inputs[kept], problem.weights[kept], ratio, places, spreads, gap, deadline)
    values, slopes = np.zeros(inputs.size), np.zeros(inputs.size)
    values[kept], slopes[kept] = found.values, found.slopes
    return replace(found, values=values, slopes=slopes)


@dataclass(frozen=True, slots=True)
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


def _search(problem: AdditiveProblem, deadline: float) -> tuple[_Candidate, int]:
    """The best mechanism and the best proof of programs that are solved ever more closely, and the steps it took."""
    optimum = _solve(problem, _PROGRAM_SHARES[0] * problem.gap, deadline)
    best, steps = _candidate(problem, optimum), optimum.steps
    for share in _PROGRAM_SHARES[1:]:
        if best.gap <= problem.gap or time.perf_counter() >= deadline:
            break
        optimum = _solve(problem, share * problem.gap, deadline)
        best, steps = _candidate(problem, optimum).better_of(best), steps + optimum.steps
    return best, steps


def _candidate(problem: AdditiveProblem, optimum: Optimum) -> _Candidate:
    mechanism, evidence = _mechanism(problem, optimum.base), _evidence(problem, optimum)
    return _Candidate(mechanism, evidence.attained(mechanism), evidence, evidence.bound(mechanism))


def _mechanism(problem: AdditiveProblem, base: Floats) -> ConditionalNoise:
    """The mechanism of a base measure, moved outwards by what rounding takes from the means at the ends."""
    ratio = largest_safe_height(problem.epsilon, 1.0)
    total = min(max(float(base.sum()), (1 + _ROUNDING) / ratio), 1 - _ROUNDING)
    outer = np.zeros(base.size)
    outer[[0, -1]] = 1 / (1 + ratio)  # as Duchi's: reaches further than any other
    shape = problem.bins, problem.reach, problem.tail
    for share in (0.0, *(2.0**k for k in range(-50, -10))):
        moved = (1 - share) * base * (total / base.sum()) + share * outer
        try:
            return ConditionalNoise(problem.epsilon, problem.inputs, *shape, moved, ratio, "additive optimum")
        except InvalidInput:
            continue
    raise CheckFailed("the base measure cannot carry an unbiased mechanism")


def _evidence(problem: AdditiveProblem, optimum: Optimum) -> AdditiveBound:
    """Against all tails if that costs next to nothing, else against the tails of the problem."""
    ends, half = problem.inputs, problem.bins / 2
    values, slopes = optimum.values * half**2, optimum.slopes * half
    # weights as they are, duals in steps: p (y - x)^2 - s (y - x) - v
    same_tails = AdditiveBound(
        problem.epsilon,
        ends.lower,
        ends.upper,
        problem.reach,
        problem.tail,
        problem.weights,
        values,
        slopes,
        rounded=problem.is_rounded,
    )
    all_tails = replace(same_tails, tail=None)
    costs_little = all_tails.value() >= same_tails.value() * (1 - _WHATEVER_SHARE * Fraction(problem.gap))
    return all_tails if costs_little else same_tails
