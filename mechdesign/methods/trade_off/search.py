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
from mechdesign.methods.method import Demands
from mechdesign.methods.minimax.proof import MinimaxBound
from mechdesign.methods.minimax.search import answer as least_worst
from mechdesign.methods.prior.search import answer as least_average_alone
from mechdesign.methods.result import Design, Report, saying_why, versions, within_gap
from mechdesign.methods.trade_off.capped_search import CappedSearch, Ends
from mechdesign.methods.trade_off.proof import TradeOffBound
from mechdesign.methods.trade_off.supports import MOST_ATOMS, Cap, capped_of, supports
from mechdesign.values.clock import Clock
from mechdesign.values.declare import evolved
from mechdesign.words.cells import Cells
from mechdesign.words.criteria import Average, Lexicographic, Worst
from mechdesign.words.priors import Atoms
from mechdesign.words.problem import Problem

Floats = NDArray[np.float64]

_GAP, _LEAST_GAP = 1e-3, 1e-6  # unless another is demanded, and the least that may be


def answer(problem: Problem, demands: Demands) -> Design:
    """The certified optimum, or `NoAnswer` if the search or the time ends first, with the design found until then.

    Without a cap the worst case is at most the certified least one times ``1 + slack``, and proven to be at most
    ``1 + 1.5 slack`` times the least there is. The average is taken under the prior as given if it has at most 256
    values, else under its rounding to the means of that many cells, which the certificate's scope names. A density that
    is a function can be asked about, but not be in a file: the design's own problem then has the `Cells` that were cut
    from it, whose means the atoms are.

    >>> from mechdesign.words.privacy import Pure
    >>> middle = Lexicographic(Atoms([0.4, 0.6], [0.5, 0.5]), cap=0.25)
    >>> problem = Problem(inputs=(0, 1), loss="squared", privacy=Pure(1.0), criterion=middle)
    >>> answer(problem, Demands()).certificate.relative_gap <= 1e-3
    True
    """
    asked, clock, gap = capped_of(problem), demands.clock(), demands.within(_GAP, _LEAST_GAP)
    ends = _ends_of(problem, gap, clock)
    return _solve(problem, gap, ends, ends.least_cap if asked.cap is None else asked.cap, clock)


def pareto(
    problem: Problem,
    count: int = 7,
    seconds: float | None = None,
    *,
    gap: float | None = None,
    best_so_far: bool = False,
) -> list[Design]:
    """Designs along the Pareto curve, from the lexicographic optimum (first) to the optimum under the prior (last).

    Caps are denser towards the least worst case, where the curve is steep. The problem has a `Lexicographic` criterion,
    whose cap is ignored. With ``best_so_far`` a point that misses its gap is the best design found, with the interval
    it has.
    """
    missed = supports(problem)
    if missed is not None:
        raise InvalidInput("problem", problem, f"be an average next to a worst case, on an interval: {missed}")
    count, demands = require_whole(count, "count", 2, 1000), Demands(gap, seconds)
    clock, gap = demands.clock(), demands.within(_GAP, _LEAST_GAP)
    prior = problem.criterion.prior
    if capped_of(problem).cap is not None:
        problem = evolved(problem, criterion=Lexicographic(prior))
    ends = _ends_of(problem, gap, clock)
    room = max(0.0, ends.prior_worst - ends.least_cap)
    caps = [ends.least_cap + room * (k / (count - 1)) ** 2 for k in range(count - 1)]
    caps.append(max(ends.prior_worst, ends.least_cap))
    asked = [problem, *(evolved(problem, criterion=Lexicographic(prior, cap=cap)) for cap in caps[1:])]
    designs = []
    for point, cap in zip(asked, caps, strict=True):
        try:
            designs.append(_solve(point, gap, ends, cap, clock))
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise
            designs.append(stopped.design)
        clock = clock.share()
    return designs


# -- both ends of the curve -------------------------------------------------------------------------------------------


def _ends_of(problem: Problem, gap: float, clock: Clock) -> Ends:
    asked = capped_of(problem)
    line, atoms, slack, cap = asked.line, asked.atoms, asked.slack, asked.cap
    try:
        design = _steady(problem, min(gap, slack) / 4, clock.left())
        if cap is not None and design.certificate.lower <= cap < design.certificate.upper:
            design = _steady(problem, 1e-6, clock.left())
    except NoAnswer as stopped:  # its bounds are about the worst case, not the average
        bounds = _plain_bounds(asked, atoms, stopped)
        raise NoAnswer(f"the least worst case was not found: {stopped.reason}", *bounds) from None
    steady, worst = design.mechanism, design.certificate
    assert isinstance(steady, Window)
    if cap is not None and cap < worst.upper:
        rule = f"be at least {worst.upper!r}, the worst case of the certified optimum"
        raise InvalidInput("cap", cap, rule, f"no mechanism keeps a cap below {worst.lower!r}")
    prior = Average(Atoms(atoms.means, atoms.weights / atoms.weights.sum()))
    best = least_average_alone(evolved(problem, criterion=prior), Demands()).mechanism
    assert isinstance(best, Window)
    prior_worst = float_up(exact_worst_error(best, asked.exponent))
    least_cap = worst.upper * (1 + slack)
    proof = worst.evidence
    assert isinstance(proof, MinimaxBound)
    least = proof.atoms
    places = np.clip((least.inputs - line.inputs.lower) / line.inputs.length, 0.0, 1.0)
    return Ends(atoms, steady, worst.upper, places, least.weights, least_cap, least, best, prior_worst)


def _plain_bounds(asked: Cap, atoms: Cells, stopped: NoAnswer) -> tuple[float, float]:
    """The optimum without the cap, and the most that a mechanism of least worst case can average."""
    inputs = asked.line.inputs
    half = (Fraction(inputs.upper) - Fraction(inputs.lower)) / 2
    lower = float_down(least_average(asked.line.epsilon, asked.exponent, atoms))
    return lower, min(float_up(half**asked.exponent), stopped.upper)


def _steady(problem: Problem, gap: float, seconds: float | None) -> Design:
    return least_worst(evolved(problem, criterion=Worst()), Demands(min(max(gap, 1e-6), 1e-3), seconds))


class _Answer(NamedTuple):
    """A mechanism, the inputs and their prices that bound all others, and how the search ended."""

    mechanism: Window
    inputs: Floats
    prices: Floats
    rounds: int
    reason: str


def _solve(problem: Problem, gap: float, ends: Ends, cap: float, clock: Clock) -> Design:
    if ends.prior_worst <= cap:
        free = _Answer(ends.prior_best, np.empty(0), np.empty(0), 0, "the cells ran out")
        return _design(problem, gap, ends, cap, free, clock)
    search = CappedSearch(capped_of(problem).line, gap, ends, cap, clock)
    ended = search.run()
    return _design(problem, gap, ends, cap, _Answer(search.best, *search.priced(), *ended), clock)


def _design(problem: Problem, gap: float, ends: Ends, cap: float, answer: _Answer, clock: Clock) -> Design:
    prior, asked = problem.criterion.prior, capped_of(problem)
    kept = as_held(asked.line.prior, coarse_cells(asked.line.prior, MOST_ATOMS))
    held = problem if kept is prior else evolved(problem, criterion=evolved(problem.criterion, prior=kept))
    least = (None, None) if asked.cap is not None else (cap, ends.least)
    evidence = TradeOffBound(answer.inputs, answer.prices, *least)
    details: dict[str, Any] = {
        "cap": cap,
        "multiplier": evidence.multiplier(capped_of(held)),
        "outputs": int(answer.mechanism.points.size),
        "priced inputs": int(answer.inputs.size),
        "prior atoms": int(ends.atoms.means.size),
        "rounds": answer.rounds,
    }
    report = Report(clock.used, "cutting planes (HiGHS)", versions("numpy", "scipy", "highspy"), details, gap)
    design = saying_why(Design(held, answer.mechanism, evidence, report), gap, answer.reason)
    return within_gap(design, gap, answer.reason)
