"""The least average error under a prior among mechanisms whose worst case is capped, with its proof.

**Formulation.** With the base measure mu as the only variable (see `mechdesign.methods.minimax.search`), for a prior p

    ``min sum_i p_i F(x_i; mu)``   subject to   ``F(x; mu) <= cap`` for all x,   ``1/c <= |mu| <= 1``.

With the cap at the least worst case (times ``1 + slack``, or nothing could be certified) this is the lexicographic
optimum, with no cap the optimum under the prior; caps between trace the Pareto curve.

**Program.** Cutting planes from above and prices from below (`mechdesign.methods.trade_off.capped_search`).

**Proof.** Prices on inputs, whose best bins bound the average (`mechdesign.methods.trade_off.proof`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mechdesign.errors import InvalidInput, NoAnswer, require_whole
from mechdesign.exact.bins import least_average
from mechdesign.exact.cuts import as_held, coarse_cells
from mechdesign.exact.rational import float_down, float_up
from mechdesign.exact.window import exact_worst_error
from mechdesign.mechanisms.window import Window
from mechdesign.methods.evidence import require_asked
from mechdesign.methods.minimax.problem import MinimaxProblem
from mechdesign.methods.minimax.proof import MinimaxBound
from mechdesign.methods.minimax.search import optimal_minimax
from mechdesign.methods.prior.problem import PriorProblem
from mechdesign.methods.prior.search import optimal_prior
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.trade_off.capped_search import CappedSearch, Ends
from mechdesign.methods.trade_off.problem import MOST_ATOMS, TradeOffProblem
from mechdesign.methods.trade_off.proof import TradeOffBound
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.priors import Atoms

Floats = NDArray[np.float64]


def optimal_trade_off(problem: TradeOffProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` if the search or the time ends first, with the design found until then.

    >>> from mechdesign.words.losses import Power
    >>> middle = Atoms([0.4, 0.6], [0.5, 0.5])
    >>> design = optimal_trade_off(TradeOffProblem(1.0, middle, Power(2.0), cap=0.25))
    >>> design.certificate.relative_gap <= 1e-3
    True
    """
    require_asked(problem, TradeOffProblem)
    clock = Clock(seconds)
    ends = _ends_of(problem, clock)
    return _solve(problem, ends, ends.least_cap if problem.cap is None else problem.cap, clock)


def pareto(
    problem: TradeOffProblem, count: int = 7, seconds: float | None = None, *, best_so_far: bool = False
) -> list[Design]:
    """Designs along the Pareto curve, from the lexicographic optimum (first) to the optimum under the prior (last).

    Caps are denser towards the least worst case, where the curve is steep. The ``cap`` of ``problem`` is ignored.
    With ``best_so_far`` a point that misses its gap is the best design found, with the interval it has.
    """
    require_asked(problem, TradeOffProblem)
    count = require_whole(count, "count", 2, 1000)
    clock = Clock(seconds)
    problem = evolved(problem, cap=None)
    ends = _ends_of(problem, clock)
    room = max(0.0, ends.prior_worst - ends.least_cap)
    caps = [ends.least_cap + room * (k / (count - 1)) ** 2 for k in range(count - 1)]
    caps.append(max(ends.prior_worst, ends.least_cap))
    asked = [problem, *(evolved(problem, cap=cap) for cap in caps[1:])]
    designs = []
    for point, cap in zip(asked, caps, strict=True):
        try:
            designs.append(_solve(point, ends, cap, clock))
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise
            designs.append(stopped.design)
        clock = clock.share()
    return designs


# -- both ends of the curve -------------------------------------------------------------------------------------------


def _ends_of(problem: TradeOffProblem, clock: Clock) -> Ends:
    atoms = problem.atoms
    try:
        design = _steady(problem, min(problem.gap, problem.slack) / 4, clock.left())
        if problem.cap is not None and design.certificate.lower <= problem.cap < design.certificate.upper:
            design = _steady(problem, 1e-6, clock.left())
    except NoAnswer as stopped:  # its bounds are about the worst case, not the average
        bounds = _plain_bounds(problem, atoms, stopped)
        raise NoAnswer(f"the least worst case was not found: {stopped.reason}", *bounds) from None
    steady, worst = design.mechanism, design.certificate
    assert isinstance(steady, Window)
    if problem.cap is not None and problem.cap < worst.upper:
        rule = f"be at least {worst.upper!r}, the worst case of the certified optimum"
        raise InvalidInput("cap", problem.cap, rule, f"no mechanism keeps a cap below {worst.lower!r}")
    prior = Atoms(atoms.means, atoms.weights / atoms.weights.sum())
    best = optimal_prior(PriorProblem(problem.epsilon, prior, problem.loss, problem.inputs)).mechanism
    assert isinstance(best, Window)
    prior_worst = float_up(exact_worst_error(best, problem.exponent))
    least_cap = worst.upper * (1 + problem.slack)
    proof = worst.evidence
    assert isinstance(proof, MinimaxBound)
    least = proof.atoms
    places = np.clip((least.inputs - problem.inputs.lower) / problem.inputs.length, 0.0, 1.0)
    return Ends(atoms, steady, worst.upper, places, least.weights, least_cap, least, best, prior_worst)


def _plain_bounds(problem: TradeOffProblem, atoms: Cells, stopped: NoAnswer) -> tuple[float, float]:
    """The optimum without the cap, and the most that a mechanism of least worst case can average."""
    half = (Fraction(problem.inputs.upper) - Fraction(problem.inputs.lower)) / 2
    lower = float_down(least_average(problem.epsilon, problem.exponent, atoms))
    return lower, min(float_up(half**problem.exponent), stopped.upper)


def _steady(problem: TradeOffProblem, gap: float, seconds: float | None) -> Design:
    gap = min(max(gap, 1e-6), 1e-3)
    return optimal_minimax(MinimaxProblem(problem.epsilon, problem.loss, problem.inputs, gap), seconds)


class _Answer(NamedTuple):
    """A mechanism, the inputs and their prices that bound all others, and how the search ended."""

    mechanism: Window
    inputs: Floats
    prices: Floats
    rounds: int
    reason: str


def _solve(problem: TradeOffProblem, ends: Ends, cap: float, clock: Clock) -> Design:
    if ends.prior_worst <= cap:
        free = _Answer(ends.prior_best, np.empty(0), np.empty(0), 0, "the cells ran out")
        return _design(problem, ends, cap, free, clock)
    search = CappedSearch(problem, ends, cap, clock)
    ended = search.run()
    return _design(problem, ends, cap, _Answer(search.best, *search.priced(), *ended), clock)


def _design(problem: TradeOffProblem, ends: Ends, cap: float, answer: _Answer, clock: Clock) -> Design:
    held = evolved(problem, prior=as_held(problem.prior, coarse_cells(problem.prior, MOST_ATOMS)))
    least = (None, None) if problem.cap is not None else (cap, ends.least)
    evidence = TradeOffBound(answer.inputs, answer.prices, *least)
    details: dict[str, Any] = {
        "cap": cap,
        "multiplier": evidence.multiplier(held),
        "outputs": int(answer.mechanism.points.size),
        "priced inputs": int(answer.inputs.size),
        "prior atoms": int(ends.atoms.means.size),
        "rounds": answer.rounds,
    }
    report = Report(clock.used, "cutting planes (HiGHS)", versions("numpy", "scipy", "highspy"), details)
    design = saying_why(Design(held, answer.mechanism, evidence, report), problem.gap, answer.reason)
    return within_gap(design, problem.gap, answer.reason)
