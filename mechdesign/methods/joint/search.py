"""Joint randomised response of least variance: which p and which correlation (section 4.3.4 of the JRR chapter).

**Formulation.** Minimise theorem 4's variance of a category's estimated count, at one count, its largest over a range
of counts or its mean under a prior, subject to

    theorem 3's averaged ratio at m colluders  <= e^eps,
    optionally, for c = 1, 2, ...:  the ratio once c partners of one's own group are known  <= e^(cap_c).

**Pairs** (k = 2): for a fixed rho the largest p allowed is best, and the scalar that remains has its least value at
one of four rational points (`mechdesign.exact.joint_variance`): the answer and its proof are exact.

**Groups, categories:** linear programs and one scalar search (`mechdesign.methods.joint.groups`).

Correlation helps only where a category is far from its even share; where the counts in question lie on both sides of
that, independent answers are best and the design says so with rho = 0. What the paper recommends stands beside the
optimum (`heuristic`): it keeps the averaged budget only without colluders, and its loss is infinite once the partner
is known.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from mechdesign.errors import CheckFailed, InvalidInput, NoAnswer
from mechdesign.exact.collusion import JointPrivacy, privacy_of
from mechdesign.exact.joint_limits import Limits, pair_limits
from mechdesign.exact.joint_variance import Goal, PairPoint, least_pair
from mechdesign.exact.privacy import CollusionProof, prove_collusion
from mechdesign.exact.rational import exp_lower
from mechdesign.mechanisms.joint import JointResponse
from mechdesign.methods.evidence import Evidence
from mechdesign.methods.joint.grouping import Grouping, grouping_of
from mechdesign.methods.joint.proof import ClosedForm
from mechdesign.methods.method import Demands
from mechdesign.methods.result import Design, Report, versions
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved, frozen
from mechdesign.words.counts import Count, Moments
from mechdesign.words.priors import Density
from mechdesign.words.problem import Problem

if TYPE_CHECKING:
    from mechdesign.methods.joint.groups import Found

GRID = 64
"""Laws are shipped with weights that are whole multiples of ``2^-64``; independent ones with such a p. Beyond
`COARSE_EPSILON` there are more bits: `grid_bits`."""

COARSE_EPSILON = 16.0
_GAP, _SECONDS = 1e-3, 60.0
"""Unless others are demanded: where a search over groups stops."""

_MARGINS = (0.0, 1e-15, 1e-12)
_FLOAT_MARGINS = (1e-10, 1e-8, 1e-6, 1e-5)
_NOTHING = (1e-12, 1e-16, 0.0)
"""Weights up to which a solver's law is tried without them. Which are noise is not for their size to say: at large eps
the privacy of a law can hang on a weight that small."""


def answer(problem: Problem, demands: Demands) -> Design:
    """The joint response of least variance and the proof that no other does better by more than the interval says.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.privacy import Collusion
    >>> asked = Problem(loss=Count(0.033), privacy=Collusion(1.0, users=10000), among=Together(group=2))
    >>> design = answer(asked, Demands())
    >>> round(design.certificate.upper, 1), round(ratio(design), 3)
    (6252.1, 0.679)
    >>> design.certificate.account.losses.if_your_partner_colludes
    inf
    """
    asked, clock = grouping_of(problem), Clock(_SECONDS if demands.seconds is None else demands.seconds)
    goal, gap = asked.goal(), demands.within(_GAP)
    evidence: Evidence = ClosedForm()
    details: dict[str, Any] = {"programs": 0, "boxes": 0}
    solver = "closed form"
    if asked.is_pair:
        law = _first_private(asked, lambda margin: pair_law(asked, goal, margin))
    elif goal.helpful == 0:
        law = _first_private(asked, lambda margin: _independent(asked, margin))
    else:
        from mechdesign.methods.joint.groups import search_groups

        limits = asked.limits(up=True), asked.limits(up=False, margin=_FLOAT_MARGINS[0])
        found = search_groups(goal, *limits, gap, clock)
        law, evidence = _law_of_search(asked, goal, limits[0], found, gap, clock), found.evidence
        details, solver = {"programs": found.programs, "boxes": found.boxes}, "HiGHS"
    report = Report(clock.used, solver, versions("numpy", "scipy", "highspy"), details, gap)
    return demands.met_by(finish(problem, law, evidence, report), "the search ended")


def finish(problem: Problem, law: JointResponse, evidence: Evidence, report: Report) -> Design:
    """The design, with how it was found; of a density its problem holds the moments."""
    details = dict(report.details) | {"count": grouping_of(problem).count}
    if isinstance(problem.loss, Count) and isinstance(problem.loss.share, Density):
        details |= {"prior": problem.loss.share.name}
        problem = evolved(problem, loss=Count(Moments.of(problem.loss.share)))
    return Design(problem, law, evidence, evolved(report, details=details))


def parts(design: Design) -> tuple[Grouping, JointResponse, JointPrivacy]:
    """What was asked in numbers, law and what it gives away, of a design that is a joint response."""
    law, account = design.mechanism, design.certificate.account
    if not (isinstance(law, JointResponse) and isinstance(account, CollusionProof)):
        raise InvalidInput("design", type(law).__name__, "be a joint response", "design one with jrr")
    return grouping_of(design.problem), law, account.losses


def ratio(design: Design) -> float:
    """The variance of a joint design as a share of independent responses' (RR) at the same epsilon."""
    return design.certificate.upper / parts(design)[0].independent_variance


# -- laws that can be shipped ------------------------------------------------------------------------------------------


def pair_law(problem: Grouping, goal: Goal, margin: float) -> JointResponse:
    """The best pair with budgets rounded down."""
    point = least_pair(goal, *pair_limits(problem.privacy, up=False, margin=margin))
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


def _independent(problem: Grouping, margin: float) -> JointResponse:
    truth = problem.limits(up=False, margin=margin).true[0]
    return independent_law(truth, problem.group, problem.categories, grid_bits(problem.epsilon))


def _law_of_search(
    problem: Grouping, goal: Goal, outer: Limits, found: Found, gap: float, clock: Clock
) -> JointResponse:
    """The float law rounded to the grid; where that breaks a budget, the search again inside a wider margin.

    Independent answers keep every budget, so they are what is left where no margin within the time yields more.
    """
    from mechdesign.methods.joint.groups import search_groups

    bits = grid_bits(problem.epsilon)
    for margin in () if found.is_independent else _FLOAT_MARGINS:
        floats = found.weights
        if margin > _FLOAT_MARGINS[0]:
            try:
                inner = problem.limits(up=False, margin=margin)
                again = search_groups(goal, outer, inner, gap, clock)
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


def _first_private(problem: Grouping, attempt: Callable[[float], JointResponse]) -> JointResponse:
    """The law of the smallest margin that keeps every budget exactly."""
    failure: CheckFailed | None = None
    for margin in _MARGINS:
        law = attempt(margin)
        failure = _failure(problem, law)
        if failure is None:
            return law
    assert failure is not None
    raise failure


def _failure(problem: Grouping, law: JointResponse) -> CheckFailed | None:
    """Which budget a law breaks, None if it keeps all."""
    try:
        prove_collusion(law, problem.privacy)
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


@frozen
class Heuristic:
    """The paper's choice ``p = e^eps/(e^eps+1)``, ``rho = 1 - 1/p``, whatever the colluders.

    ``agrees_up_to`` is the largest share of colluders at which the optimum still has ``rho = 1 - 1/p`` (with the p that
    keeps the budget); None if it never has.
    """

    law: JointResponse
    variance: float
    privacy: JointPrivacy
    agrees_up_to: float | None


def heuristic(problem: Problem) -> Heuristic:
    """The paper's choice for a problem of pairs, and where it parts from the optimum.

    >>> from mechdesign.words.classes import Together
    >>> from mechdesign.words.privacy import Collusion
    >>> asked = Problem(loss=Count(0.01), privacy=Collusion(1.0, users=10000, colluders=500), among=Together(group=2))
    >>> found = heuristic(asked)
    >>> round(found.privacy.averaged, 4), found.privacy.if_your_partner_colludes
    (1.0695, inf)
    """
    asked = grouping_of(problem)
    if not asked.is_pair:
        raise InvalidInput("group", (asked.group, asked.categories), "be pairs with two categories")
    goal = asked.goal()
    ratio = exp_lower(asked.epsilon)
    p = ratio / (1 + ratio)
    law = on_grid(JointResponse.pair(p, 1 - 1 / p).weights, 2, grid_bits(asked.epsilon))
    variance = float(goal.variance(law.truth, law.covariance))
    privacy = privacy_of(law, asked.users, asked.colluders)
    return Heuristic(law, variance, privacy, _agreement(asked, goal))


def _agreement(problem: Grouping, goal: Goal) -> float | None:
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
