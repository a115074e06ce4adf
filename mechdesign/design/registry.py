"""Every design problem: what proves its designs and what answers it. Files, `solve` and documentation go by it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mechdesign.design.additive import AdditiveBound, AdditiveProblem, optimal_additive
from mechdesign.design.convex import ConvexClaim, CustomProblem, LinearBound, TableProblem, optimal_custom
from mechdesign.design.evidence import Evidence, Problem
from mechdesign.design.finite import FiniteBound, FiniteProblem, LexicographicBound, optimal_finite
from mechdesign.design.hidden_joint import (
    HiddenJointProblem,
    HockeyDuals,
    IndependentBest,
    PeakLines,
    optimal_hidden,
)
from mechdesign.design.information import InformationBound, InformationProblem, optimal_information
from mechdesign.design.joint import ClosedForm, DualBound, JointClaim, JointProblem, optimal_joint
from mechdesign.design.minimax import MinimaxBound, MinimaxClaim, MinimaxProblem, optimal_minimax
from mechdesign.design.pairwise import (
    PairsBound,
    PairsLexicographicBound,
    PairwiseProblem,
    PlaneBound,
    optimal_pairwise,
)
from mechdesign.design.piecewise import BathtubBound, PiecewiseClaim, PiecewiseProblem, optimal_piecewise
from mechdesign.design.points import PointsBound
from mechdesign.design.polar import PolarProblem, SplitClaim, optimal_polar
from mechdesign.design.prior import BinsBound, PriorProblem, optimal_prior
from mechdesign.design.result import Design
from mechdesign.design.trade_off import TradeOffBound, TradeOffProblem, optimal_trade_off
from mechdesign.design.unbiased import UnbiasedPriorBound, UnbiasedProblem, optimal_unbiased
from mechdesign.design.unbiased_piecewise import UnbiasedBound, UnbiasedPiecewiseProblem, optimal_unbiased_piecewise
from mechdesign.design.workload import GridBound, WorkloadBound, WorkloadProblem, optimal_workload
from mechdesign.errors import InvalidInput, require_seconds
from mechdesign.mechanisms.kinds import PROTOCOLS
from mechdesign.values.codec import Codec
from mechdesign.values.declare import frozen


@frozen
class Entry:
    """A design problem: what its designs rest on, and what answers it in so many seconds (None is no limit).

    ``asked`` is what users make, where that holds functions and designs hold what was understood of them.
    """

    problem: type[Problem]
    proven_by: tuple[type[Evidence], ...]
    answer: Callable[[Any, float | None], Design]
    asked: type | None = None


def _at_once(formula: Callable[[Any], Design]) -> Callable[[Any, float | None], Design]:
    """A closed form takes no time that could run out."""
    return lambda problem, _: formula(problem)


def _hidden(problem: HiddenJointProblem, seconds: float | None) -> Design:
    return optimal_hidden(problem) if seconds is None else optimal_hidden(problem, seconds)


def _joint(problem: JointProblem, seconds: float | None) -> Design:
    return optimal_joint(problem) if seconds is None else optimal_joint(problem, seconds)


ENTRIES = (
    Entry(JointProblem, (ClosedForm, DualBound, JointClaim), _joint),
    Entry(HiddenJointProblem, (PeakLines, IndependentBest, HockeyDuals), _hidden),
    Entry(PiecewiseProblem, (BathtubBound, PiecewiseClaim), _at_once(optimal_piecewise)),
    Entry(MinimaxProblem, (MinimaxBound, MinimaxClaim, PointsBound), optimal_minimax),
    Entry(PriorProblem, (BinsBound, PointsBound), optimal_prior),
    Entry(TradeOffProblem, (TradeOffBound,), optimal_trade_off),
    Entry(PolarProblem, (SplitClaim,), _at_once(optimal_polar)),
    Entry(UnbiasedPiecewiseProblem, (UnbiasedBound,), _at_once(optimal_unbiased_piecewise)),
    Entry(UnbiasedProblem, (UnbiasedPriorBound,), optimal_unbiased),
    Entry(AdditiveProblem, (AdditiveBound,), optimal_additive),
    Entry(FiniteProblem, (FiniteBound, LexicographicBound), optimal_finite),
    Entry(WorkloadProblem, (WorkloadBound, GridBound), optimal_workload),
    Entry(InformationProblem, (InformationBound,), optimal_information),
    Entry(PairwiseProblem, (PairsBound, PairsLexicographicBound, PlaneBound), optimal_pairwise),
    Entry(TableProblem, (LinearBound, ConvexClaim), optimal_custom, asked=CustomProblem),
)
"""Every problem there is, a line each."""

PROVEN_BY: dict[type[Problem], tuple[type[Evidence], ...]] = {entry.problem: entry.proven_by for entry in ENTRIES}
"""The problems that files hold, and for each the kinds of evidence that its designs may rest on."""

_ANSWERS = {entry.asked or entry.problem: entry.answer for entry in ENTRIES}


def solve(problem: Any, seconds: float | None = None) -> Design:
    """The certified answer to a design problem of any kind, or `NoAnswer` with bounds if ``seconds`` are not enough.

    It is what the problem's own function finds: `optimal_piecewise` for a `PiecewiseProblem`, and so on. Problems with
    an answer in closed form take no limit; joint responses have 60 seconds unless more are given.

    >>> from mechdesign.losses import Squared
    >>> solve(PiecewiseProblem(1.0, Squared())) == optimal_piecewise(PiecewiseProblem(1.0, Squared()))
    True
    """
    answer = _ANSWERS.get(type(problem))
    if isinstance(problem, TableProblem):
        step = "ask its CustomProblem anew"
        raise InvalidInput("problem", problem, "hold its functions, and this is what was understood of them", step)
    if answer is None:
        kinds = ", ".join(sorted(kind.__name__ for kind in _ANSWERS))
        step = "for example md.PiecewiseProblem(epsilon=1.0)"
        raise InvalidInput("problem", problem, f"be one of {kinds}", step)
    return answer(problem, require_seconds(seconds))


CODEC = Codec(PROTOCOLS)
"""How designs are read from files."""
