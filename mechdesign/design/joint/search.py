"""Joint randomised response of least variance: which p and which correlation (section 4.3.4 of the JRR chapter).

**Formulation.** Minimise theorem 4's variance of a category's estimated count, at one count, its largest over a range
of counts or its mean under a prior, subject to

    theorem 3's averaged ratio at m colluders  <= e^eps,
    optionally, for c = 1, 2, ...:  the ratio once c partners of one's own group are known  <= e^(cap_c).

**Pairs** (k = 2): for a fixed rho the largest p allowed is best, and the scalar that remains has its least value at
one of four rational points (`mechdesign.design.joint.pair_bound`): the answer and its proof are exact.

**Groups, categories:** linear programs and one scalar search (`mechdesign.design.joint.groups`).

Correlation helps only where a category is far from its even share; where the counts in question lie on both sides of
that, independent answers are best and the design says so with rho = 0. What the paper recommends stands beside the
optimum (`heuristic`): it keeps the averaged budget only without colluders, and its loss is infinite once the partner
is known.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from mechdesign.design.joint.groups import LEAST_TRUTH, Found, Limits, search_groups
from mechdesign.design.joint.pair_bound import Goal, PairPoint, least_pair
from mechdesign.design.joint.problem import JointProblem
from mechdesign.design.joint.proof import (
    JointPrivacy,
    collusion,
    privacy_of,
    prove_joint_privacy,
)
from mechdesign.design.result import Report, versions
from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.exact.rational import exp_lower, exp_upper, float_down, float_up
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.priors import Density

GRID = 64
"""Laws are shipped with weights that are whole multiples of ``2^-64``; independent ones with such a p. Beyond
`COARSE_EPSILON` there are more bits: `grid_bits`."""

COARSE_EPSILON = 16.0
_MARGINS = (0.0, 1e-15, 1e-12)
_FLOAT_MARGINS = (1e-10, 1e-8, 1e-6, 1e-5)
_NOTHING = (1e-12, 1e-16, 0.0)
"""Weights up to which a solver's law is tried without them. Which are noise is not for their size to say: at large eps
the privacy of a law can hang on a weight that small."""


@dataclass(frozen=True, slots=True)
class JointCertificate:
    """``[lower, upper]`` holds the least variance of the class ``valid_for`` names; ``upper`` is attained.

    *Guarantee.* Both ends are exact numbers rounded outward; ``lower`` was derived by weak duality or the closed form
    with ``e^eps`` rounded up. If ``claimed``, a solver says so and nothing more.
    """

    lower: float
    upper: float
    valid_for: str
    claimed: bool

    @property
    def relative_gap(self) -> float:
        return (self.upper - self.lower) / self.upper if self.upper > 0 else 0.0


@dataclass(frozen=True, slots=True)
class JointDesign:
    """The answer. It exists only if its law keeps every budget in rational arithmetic."""

    problem: JointProblem
    law: JointResponse
    certificate: JointCertificate
    privacy: JointPrivacy
    independent_variance: float
    report: Report = field(compare=False)

    def __post_init__(self) -> None:
        problem = self.problem
        prove_joint_privacy(self.law, problem.epsilon, problem.users, problem.colluders, problem.caps)
        attained = problem.goal().variance(self.law.truth, self.law.covariance)
        if not attained <= Fraction(self.certificate.upper):
            raise CheckFailed(f"the law has variance {float(attained)!r}, above {self.certificate.upper!r}")
        if not self.certificate.lower <= self.certificate.upper:
            raise CheckFailed(f"the bounds {self.certificate} cross")

    @property
    def ratio(self) -> float:
        """The variance as a share of independent responses' (RR) at the same epsilon."""
        return self.certificate.upper / self.independent_variance

    def to_dict(self) -> dict[str, Any]:
        certificate = self.certificate
        return {
            "problem": self.problem.to_dict(),
            "mechanism": self.law.to_dict(),
            "variance": certificate.upper,
            "independent_variance": self.independent_variance,
            "certificate": {
                "lower": certificate.lower,
                "upper": certificate.upper,
                "valid_for": certificate.valid_for,
                "claimed": certificate.claimed,
            },
            "privacy": {
                "averaged_epsilon": self.privacy.averaged,
                "conditional_epsilons": list(self.privacy.conditional),
            },
            "report": self.report.to_dict(),
        }


def optimal_joint(problem: JointProblem, seconds: float = 60.0) -> JointDesign:
    """The joint response of least variance and the proof that no other does better by more than the interval says.

    >>> design = optimal_joint(JointProblem(1.0, users=10000, share=0.033))
    >>> round(design.certificate.upper, 1), round(design.independent_variance, 1)
    (6252.1, 9206.7)
    >>> design.privacy.if_your_partner_colludes
    inf
    """
    started = time.perf_counter()
    if not (math.isfinite(seconds) and seconds > 0):
        raise InvalidInput("seconds", seconds, "be finite and above 0")
    deadline = started + seconds
    goal = problem.goal()
    if problem.is_pair:
        lower = least_pair(goal, *pair_limits(problem, up=True)).variance
        law = _first_private(problem, lambda margin: pair_law(problem, goal, margin))
        details: dict[str, Any] = {"programs": 0, "boxes": 0}
        solver = "closed form"
    elif goal.helpful == 0:
        # any covariance makes the worst count worse, so what is left is the largest p
        truth = group_limits(problem, up=True).true[0]
        lower = goal.variance(truth, Fraction(0))
        law = _first_private(problem, lambda margin: _independent(problem, margin))
        details, solver = {"programs": 0, "boxes": 0}, "closed form"
    else:
        limits = group_limits(problem, up=True), group_limits(problem, up=False, margin=_FLOAT_MARGINS[0])
        found = search_groups(goal, *limits, problem.gap, seconds)
        lower, law = max(found.lower, Fraction(0)), _law_of_search(problem, goal, limits[0], found, deadline)
        details, solver = {"programs": found.programs, "boxes": found.boxes}, "HiGHS"
    upper = float_up(goal.variance(law.truth, law.covariance))
    certificate = JointCertificate(min(float_down(lower), upper), upper, class_of(problem), False)
    details["count"] = problem.count
    return finish(problem, law, certificate, started, solver, details)


def finish(
    problem: JointProblem,
    law: JointResponse,
    certificate: JointCertificate,
    started: float,
    solver: str,
    details: dict[str, Any],
) -> JointDesign:
    """A design with its exact privacy, the variance of independent responses, and how it was found."""
    privacy = privacy_of(law, problem.users, problem.colluders)
    if isinstance(problem.share, Density):
        details = details | {"prior": problem.share.name}
    report = Report(
        time.perf_counter() - started, solver, versions("numpy", "scipy", "highspy"), MappingProxyType(details)
    )
    return JointDesign(problem, law, certificate, privacy, independent_variance(problem), report)


def independent_variance(problem: JointProblem) -> float:
    """The variance of randomised response at the same epsilon, whatever the caps."""
    ratio = exp_lower(problem.epsilon)
    goal = problem.goal()
    return float(goal.variance(ratio / (ratio + problem.categories - 1), Fraction(0)))


def class_of(problem: JointProblem) -> str:
    """Among which laws the optimum was sought."""
    if problem.is_pair:
        return "joint responses of pairs"
    least = f", p at least {float(_least_truth(problem)):.6g}" if problem.goal().helpful else ""
    return f"joint responses of exchangeable groups of {problem.group}{least}"


def _least_truth(problem: JointProblem) -> Fraction:
    k = problem.categories
    return (1 + LEAST_TRUTH * (k * group_limits(problem, up=True).true[0] - 1)) / k


# -- budgets as probabilities ------------------------------------------------------------------------------------------


def _ratio(epsilon: float, *, up: bool, margin: float = 0.0) -> Fraction:
    """``e^eps`` rounded up, or down by a share ``margin`` of what it is above 1."""
    return exp_upper(epsilon) if up else 1 + (exp_lower(epsilon) - 1) * (1 - Fraction(margin))


def pair_limits(problem: JointProblem, *, up: bool, margin: float = 0.0) -> tuple[Fraction, Fraction, Fraction]:
    """``U``, ``S`` and ``a`` of `mechdesign.design.joint.pair_bound`."""
    budget = _ratio(problem.epsilon, up=up, margin=margin)
    cap = problem.caps[0] if problem.caps else None
    share = Fraction(1)
    if cap is not None:
        ratio = _ratio(cap, up=up, margin=margin)
        share = ratio / (1 + ratio)
    return budget / (1 + budget), share, Fraction(problem.colluders, problem.users - 1)


def group_limits(problem: JointProblem, *, up: bool, margin: float = 0.0) -> Limits:
    """Caps on the probabilities of truth and lie for each number of known partners, and on their averages."""
    others = problem.categories - 1

    def both(epsilon: float | None) -> tuple[Fraction, Fraction]:
        if epsilon is None:
            return Fraction(1), Fraction(1)
        ratio = _ratio(epsilon, up=up, margin=margin)
        return ratio / (ratio + others), others * ratio / (1 + others * ratio)

    mean = both(problem.epsilon)
    caps = [mean, *map(both, problem.caps)] + [both(None)] * (problem.group - 1 - len(problem.caps))
    # what holds with c + 1 partners known holds with c: the loss with fewer is an average
    for c in range(problem.group - 2, -1, -1):
        caps[c] = (min(caps[c][0], caps[c + 1][0]), min(caps[c][1], caps[c + 1][1]))
    chances = collusion(problem.users, problem.colluders, problem.group)
    return Limits(tuple(c[0] for c in caps), tuple(c[1] for c in caps), chances, *mean)


# -- laws that can be shipped ------------------------------------------------------------------------------------------


def pair_law(problem: JointProblem, goal: Goal, margin: float) -> JointResponse:
    """The best pair with budgets rounded down."""
    point = least_pair(goal, *pair_limits(problem, up=False, margin=margin))
    return law_of(point, grid_bits(problem.epsilon))


def law_of(point: PairPoint, bits: int) -> JointResponse:
    """The law to ship for a point of the closed form."""
    if point.rho == 0:
        return independent_law(point.p, 2, 2, bits)
    return on_grid(JointResponse.pair(point.p, point.rho).weights, 2, bits)


def grid_bits(epsilon: float) -> int:
    """How fine the grid is: beyond `COARSE_EPSILON` so fine that ``e^-eps`` keeps 64 bits.

    >>> grid_bits(1.0), grid_bits(64.0)
    (64, 157)
    """
    return GRID if epsilon <= COARSE_EPSILON else GRID + math.ceil(epsilon / math.log(2))


def independent_law(truth: Fraction, group: int, categories: int, bits: int = GRID) -> JointResponse:
    """Independent truths with p on the grid, exactly independent."""
    return JointResponse.independent(Fraction(math.floor(truth * (1 << bits)), 1 << bits), group, categories)


def _independent(problem: JointProblem, margin: float) -> JointResponse:
    truth = group_limits(problem, up=False, margin=margin).true[0]
    return independent_law(truth, problem.group, problem.categories, grid_bits(problem.epsilon))


def _law_of_search(problem: JointProblem, goal: Goal, outer: Limits, found: Found, deadline: float) -> JointResponse:
    """The float law rounded to the grid; where that breaks a budget, the search again inside a wider margin.

    Independent answers keep every budget, so they are what is left where no margin within the time yields more.
    """
    bits = grid_bits(problem.epsilon)
    for margin in () if found.is_independent else _FLOAT_MARGINS:
        floats = found.weights
        if margin > _FLOAT_MARGINS[0]:
            try:
                inner = group_limits(problem, up=False, margin=margin)
                again = search_groups(goal, outer, inner, problem.gap, deadline - time.perf_counter())
            except NoAnswer:  # the time is up, and the first search has its bounds
                break
            if again.is_independent:
                break
            floats = again.weights
        for nothing in _NOTHING:
            kept = [Fraction(float(w)) if w > nothing else Fraction(0) for w in floats]
            law = on_grid(kept, problem.categories, bits)
            if _failure(problem, law) is None:
                return law
    return _first_private(problem, lambda margin: _independent(problem, margin))


def _first_private(problem: JointProblem, attempt: Callable[[float], JointResponse]) -> JointResponse:
    """The law of the smallest margin that keeps every budget exactly."""
    failure: CheckFailed | None = None
    for margin in _MARGINS:
        law = attempt(margin)
        failure = _failure(problem, law)
        if failure is None:
            return law
    assert failure is not None
    raise failure


def _failure(problem: JointProblem, law: JointResponse) -> CheckFailed | None:
    """Which budget a law breaks, None if it keeps all."""
    try:
        prove_joint_privacy(law, problem.epsilon, problem.users, problem.colluders, problem.caps)
    except CheckFailed as failed:
        return failed
    return None


def on_grid(weights: Sequence[Fraction], categories: int, bits: int = GRID) -> JointResponse:
    """A law with weights in multiples of ``2^-bits``; what rounding leaves goes to the fewest truths that are possible.

    >>> law = on_grid([Fraction(0), Fraction(1, 3), Fraction(2, 3)], 2)
    >>> law.weights[0], sum(law.weights), law.weights[1].denominator <= 2**64
    (Fraction(0, 1), Fraction(1, 1), True)
    """
    total = sum(weights)
    units = [math.floor(weight / total * (1 << bits)) for weight in weights]
    lowest = next(t for t, unit in enumerate(units) if unit)
    units[lowest] += (1 << bits) - sum(units)
    return JointResponse(tuple(Fraction(unit, 1 << bits) for unit in units), categories)


# -- what the paper recommends -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heuristic:
    """The paper's choice ``p = e^eps/(e^eps+1)``, ``rho = 1 - 1/p``, whatever the colluders.

    ``agrees_up_to`` is the largest share of colluders at which the optimum still has ``rho = 1 - 1/p`` (with the p that
    keeps the budget); None if it never has.
    """

    law: JointResponse
    variance: float
    privacy: JointPrivacy
    agrees_up_to: float | None


def heuristic(problem: JointProblem) -> Heuristic:
    """The paper's choice for a problem of pairs, and where it parts from the optimum.

    >>> found = heuristic(JointProblem(1.0, users=10000, share=0.01, colluders=500))
    >>> round(found.privacy.averaged, 4), found.privacy.if_your_partner_colludes
    (1.0695, inf)
    """
    if not problem.is_pair:
        raise InvalidInput("group", (problem.group, problem.categories), "be pairs with two categories")
    goal = problem.goal()
    ratio = exp_lower(problem.epsilon)
    p = ratio / (1 + ratio)
    law = on_grid(JointResponse.pair(p, 1 - 1 / p).weights, 2, grid_bits(problem.epsilon))
    variance = float(goal.variance(law.truth, law.covariance))
    privacy = privacy_of(law, problem.users, problem.colluders)
    return Heuristic(law, variance, privacy, _agreement(problem, goal))


def _agreement(problem: JointProblem, goal: Goal) -> float | None:
    ratio = exp_lower(problem.epsilon)

    def on_edge(colluders: int) -> bool:
        best = least_pair(goal, ratio / (1 + ratio), Fraction(1), Fraction(colluders, problem.users - 1))
        return best.rho < 0 and best.p * (1 - best.rho) == 1

    if not on_edge(0):
        return None
    low, high = 0, problem.users
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if on_edge(middle) else (low, middle)
    return low / problem.users
