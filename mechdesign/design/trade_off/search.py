"""The least average error under a prior among mechanisms whose worst case is capped, with its proof.

**Formulation.** With the base measure mu as the only variable (see `mechdesign.design.minimax.search`), for a prior p

    ``min sum_i p_i F(x_i; mu)``   subject to   ``F(x; mu) <= cap`` for all x,   ``1/c <= |mu| <= 1``.

With the cap at the least worst case (times ``1 + slack``, or nothing could be certified) this is the lexicographic
optimum, with no cap the optimum under the prior; caps between trace the Pareto curve.

**Program.** Cutting planes from above and prices from below (`mechdesign.design.trade_off.capped_search`).

**Proof.** Prices on inputs, whose best bins bound the average (`mechdesign.design.trade_off.proof`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechdesign.design.minimax.proof import MinimaxBound, exact_worst_error
from mechdesign.design.minimax.search import MinimaxProblem, optimal_minimax
from mechdesign.design.prior.proof import least_average
from mechdesign.design.prior.search import (
    PriorProblem,
    is_rounded,
    optimal_prior,
    require_prior_problem,
    rounded_to_atoms,
)
from mechdesign.design.result import Certificate, Design, Report, versions, within_gap
from mechdesign.design.trade_off.capped_search import CappedSearch, Ends, seconds_left
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.domains import Interval
from mechdesign.errors import InvalidInput, NoAnswer, require_finite
from mechdesign.exact.cells import Cells, prior_echo
from mechdesign.exact.rational import float_down, float_up
from mechdesign.losses import Loss, Power
from mechdesign.mechanisms.catalogue import UNIT
from mechdesign.mechanisms.serialise import domain_to_dict
from mechdesign.mechanisms.window import Window
from mechdesign.priors import Atoms, Density, Prior

Floats = NDArray[np.float64]

MOST_ATOMS = 256
"""A prior of more values is rounded to this many cell means, which keeps its mean."""

LEAST_SLACK = 1e-5

_ABSOLUTE = Power(1.0)


@dataclass(frozen=True, slots=True)
class TradeOffProblem:
    """The least average under a prior with worst case at most ``cap``; None asks for the least worst case first.

    Then the cap is the certified least worst case times ``1 + slack``; ``slack`` means nothing for a given cap. ``gap``
    is the relative distance between the proven bounds on the average at which the search stops. The average is taken
    under the prior as given if it has at most 256 values, else under its rounding to the means of that many cells,
    which the certificate holds and its scope names.
    """

    epsilon: float
    prior: Prior
    loss: Loss = _ABSOLUTE
    inputs: Interval = UNIT
    cap: float | None = None
    gap: float = 1e-3
    slack: float = 1e-3

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", require_prior_problem(self.epsilon, self.prior, self.loss, self.inputs))
        if self.cap is not None and not require_finite(self.cap, "cap") > 0:
            raise InvalidInput("cap", self.cap, "be above 0")
        if not 1e-6 <= require_finite(self.gap, "gap") < 1:
            raise InvalidInput("gap", self.gap, "lie between 1e-6 and 1")
        if not LEAST_SLACK <= require_finite(self.slack, "slack") < 1:
            raise InvalidInput("slack", self.slack, f"lie between {LEAST_SLACK:g} and 1")

    @property
    def exponent(self) -> int:
        assert isinstance(self.loss, Power)
        return int(self.loss.exponent)

    @property
    def atoms(self) -> Cells:
        """The prior the average is taken under."""
        return rounded_to_atoms(self.prior, MOST_ATOMS)

    @property
    def is_rounded(self) -> bool:
        return is_rounded(self.prior, MOST_ATOMS)

    def to_dict(self) -> dict[str, Any]:
        name = self.prior.name if isinstance(self.prior, Density) else "data"
        values = int(self.prior.points.size) if isinstance(self.prior, Atoms) else None
        atoms = self.atoms
        return {
            "kind": "trade-off",
            "epsilon": self.epsilon,
            "loss": self.loss.name,
            "inputs": domain_to_dict(self.inputs),
            "criterion": "average under the prior, worst case capped",
            "cap": self.cap,
            "prior": prior_echo(atoms, name, values) | {"rounded": self.is_rounded},
            "gap": self.gap,
            "slack": self.slack,
        }


def optimal_trade_off(problem: TradeOffProblem, seconds: float | None = None) -> Design:
    """The certified optimum, or `NoAnswer` if the search or the time ends first, with the design found until then.

    >>> middle = Atoms([0.4, 0.6], [0.5, 0.5])
    >>> design = optimal_trade_off(TradeOffProblem(1.0, middle, Power(2.0), cap=0.25))
    >>> design.certificate.relative_gap <= 1e-3
    True
    """
    started = time.perf_counter()
    ends = _ends_of(problem, _deadline(seconds, started))
    return _solve(problem, ends, ends.least_cap if problem.cap is None else problem.cap, started)


def pareto(
    problem: TradeOffProblem, count: int = 7, seconds: float | None = None, *, best_so_far: bool = False
) -> list[Design]:
    """Designs along the Pareto curve, from the lexicographic optimum (first) to the optimum under the prior (last).

    Caps are denser towards the least worst case, where the curve is steep. The ``cap`` of ``problem`` is ignored.
    With ``best_so_far`` a point that misses its gap is the best design found, with the interval it has.
    """
    if isinstance(count, bool) or not isinstance(count, int) or not 2 <= count <= 1000:
        raise InvalidInput("count", count, "be a whole number from 2 to 1000")
    started = time.perf_counter()
    ends = _ends_of(replace(problem, cap=None), _deadline(seconds, started))
    room = max(0.0, ends.prior_worst - ends.least_cap)
    caps = [ends.least_cap + room * (k / (count - 1)) ** 2 for k in range(count - 1)]
    caps.append(max(ends.prior_worst, ends.least_cap))
    asked = [replace(problem, cap=None), *(replace(problem, cap=cap) for cap in caps[1:])]
    designs = []
    for point, cap in zip(asked, caps, strict=True):
        try:
            designs.append(_solve(point, ends, cap, started))
        except NoAnswer as stopped:
            if not best_so_far or stopped.design is None:
                raise
            designs.append(stopped.design)
        started = time.perf_counter()
    return designs


def _deadline(seconds: float | None, started: float) -> float:
    if seconds is None:
        return math.inf
    if not require_finite(seconds, "seconds") > 0:
        raise InvalidInput("seconds", seconds, "be finite and above 0")
    return started + seconds


# -- both ends of the curve -------------------------------------------------------------------------------------------


def _ends_of(problem: TradeOffProblem, deadline: float) -> Ends:
    atoms = problem.atoms
    try:
        design = _steady(problem, min(problem.gap, problem.slack) / 4, seconds_left(deadline))
        if problem.cap is not None and design.certificate.lower <= problem.cap < design.certificate.upper:
            design = _steady(problem, 1e-6, seconds_left(deadline))
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
    places = np.clip((proof.inputs - problem.inputs.lower) / problem.inputs.length, 0.0, 1.0)
    return Ends(atoms, steady, worst.upper, places, proof.weights, least_cap, proof, best, prior_worst, deadline)


def _plain_bounds(problem: TradeOffProblem, atoms: Cells, stopped: NoAnswer) -> tuple[float, float]:
    """The optimum without the cap, and the most that a mechanism of least worst case can average."""
    half = (Fraction(problem.inputs.upper) - Fraction(problem.inputs.lower)) / 2
    lower = float_down(least_average(problem.epsilon, problem.exponent, atoms))
    return lower, min(float_up(half**problem.exponent), stopped.upper)


def _steady(problem: TradeOffProblem, gap: float, seconds: float | None) -> Design:
    gap = min(max(gap, 1e-6), 1e-3)
    return optimal_minimax(MinimaxProblem(problem.epsilon, problem.loss, problem.inputs, gap), seconds)


def _solve(problem: TradeOffProblem, ends: Ends, cap: float, started: float) -> Design:
    if ends.prior_worst <= cap:
        evidence = _evidence(problem, ends, cap, np.empty(0), np.empty(0))
        return _design(problem, ends.prior_best, evidence, started, (0, "the cells ran out"))
    search = CappedSearch(problem, ends, cap)
    ended = search.run()
    return _design(problem, search.best, _evidence(problem, ends, cap, *search.priced()), started, ended)


def _evidence(problem: TradeOffProblem, ends: Ends, cap: float, inputs: Floats, prices: Floats) -> TradeOffBound:
    least, slack = (ends.least, problem.slack) if problem.cap is None else (None, 0.0)
    rounded = problem.is_rounded
    return TradeOffBound(problem.epsilon, problem.exponent, ends.atoms, cap, inputs, prices, rounded, least, slack)


def _design(
    problem: TradeOffProblem, mechanism: Window, evidence: TradeOffBound, started: float, ended: tuple[int, str]
) -> Design:
    rounds, reason = ended
    upper = evidence.attained(mechanism)
    lower = min(evidence.bound(mechanism), upper)
    scope = evidence.scope(mechanism)
    certificate = Certificate(lower, upper, scope, False, mechanism.privacy_loss(), evidence)
    details: dict[str, Any] = {
        "cap": evidence.cap,
        "multiplier": evidence.multiplier,
        "outputs": int(mechanism.points.size),
        "priced inputs": int(evidence.inputs.size),
        "prior atoms": int(evidence.prior.means.size),
        "rounds": rounds,
    }
    if certificate.relative_gap > problem.gap:
        details["stopped"] = reason
    report = Report(
        time.perf_counter() - started,
        "cutting planes (HiGHS)",
        versions("numpy", "scipy", "highspy"),
        MappingProxyType(details),
    )
    return within_gap(Design(problem, mechanism, certificate, report), problem.gap, reason)
