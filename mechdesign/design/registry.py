"""Every design problem: what proves its designs and what answers it. Files, `solve` and documentation go by it."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from mechdesign.design.additive.problem import AdditiveProblem
from mechdesign.design.additive.proof import AdditiveBound
from mechdesign.design.convex.problem import CustomProblem, TableProblem
from mechdesign.design.convex.proof import ConvexBound, ConvexClaim
from mechdesign.design.evidence import Evidence, Problem
from mechdesign.design.finite.problem import FiniteProblem
from mechdesign.design.finite.proof import FiniteBound, LexicographicBound
from mechdesign.design.hidden_joint.problem import HiddenJointProblem
from mechdesign.design.hidden_joint.proof import HockeyDuals, IndependentBest, PeakLines
from mechdesign.design.information.problem import InformationProblem
from mechdesign.design.information.proof import InformationBound
from mechdesign.design.joint.problem import JointProblem
from mechdesign.design.joint.proof import ClosedForm, DualBound, JointClaim
from mechdesign.design.minimax.problem import MinimaxProblem
from mechdesign.design.minimax.proof import MinimaxBound, MinimaxClaim
from mechdesign.design.pairwise.lexicographic_proof import PairsLexicographicBound
from mechdesign.design.pairwise.plane_proof import PlaneBound
from mechdesign.design.pairwise.problem import PairwiseProblem
from mechdesign.design.pairwise.proof import PairsBound
from mechdesign.design.piecewise.problem import PiecewiseProblem
from mechdesign.design.piecewise.proof import BathtubBound, PiecewiseClaim
from mechdesign.design.points.proof import PointsBound
from mechdesign.design.polar.problem import PolarProblem
from mechdesign.design.polar.proof import SplitClaim
from mechdesign.design.prior.problem import PriorProblem
from mechdesign.design.prior.proof import BinsBound
from mechdesign.design.result import Design
from mechdesign.design.trade_off.problem import TradeOffProblem
from mechdesign.design.trade_off.proof import TradeOffBound
from mechdesign.design.unbiased.problem import UnbiasedProblem
from mechdesign.design.unbiased.proof import UnbiasedPriorBound
from mechdesign.design.unbiased_piecewise.problem import UnbiasedPiecewiseProblem
from mechdesign.design.unbiased_piecewise.proof import UnbiasedBound
from mechdesign.design.workload.grid_proof import GridBound
from mechdesign.design.workload.problem import WorkloadProblem
from mechdesign.design.workload.proof import WorkloadBound
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


def _answer(module: str, name: str) -> Callable[[Any, float | None], Design]:
    """What a search answers, read when it is asked for; without a limit its own is meant."""

    def answer(problem: Any, seconds: float | None) -> Design:
        search = getattr(import_module(f"mechdesign.design.{module}.search"), name)
        found: Design = search(problem) if seconds is None else search(problem, seconds)
        return found

    return answer


def _at_once(module: str, name: str) -> Callable[[Any, float | None], Design]:
    """A closed form takes no time that could run out."""
    found = _answer(module, name)
    return lambda problem, _: found(problem, None)


ENTRIES = (
    Entry(JointProblem, (ClosedForm, DualBound, JointClaim), _answer("joint", "optimal_joint")),
    Entry(HiddenJointProblem, (PeakLines, IndependentBest, HockeyDuals), _answer("hidden_joint", "optimal_hidden")),
    Entry(PiecewiseProblem, (BathtubBound, PiecewiseClaim), _at_once("piecewise", "optimal_piecewise")),
    Entry(MinimaxProblem, (MinimaxBound, MinimaxClaim, PointsBound), _answer("minimax", "optimal_minimax")),
    Entry(PriorProblem, (BinsBound, PointsBound), _answer("prior", "optimal_prior")),
    Entry(TradeOffProblem, (TradeOffBound,), _answer("trade_off", "optimal_trade_off")),
    Entry(PolarProblem, (SplitClaim,), _at_once("polar", "optimal_polar")),
    Entry(UnbiasedPiecewiseProblem, (UnbiasedBound,), _at_once("unbiased_piecewise", "optimal_unbiased_piecewise")),
    Entry(UnbiasedProblem, (UnbiasedPriorBound,), _answer("unbiased", "optimal_unbiased")),
    Entry(AdditiveProblem, (AdditiveBound,), _answer("additive", "optimal_additive")),
    Entry(FiniteProblem, (FiniteBound, LexicographicBound), _answer("finite", "optimal_finite")),
    Entry(WorkloadProblem, (WorkloadBound, GridBound), _answer("workload", "optimal_workload")),
    Entry(InformationProblem, (InformationBound,), _answer("information", "optimal_information")),
    Entry(PairwiseProblem, (PairsBound, PairsLexicographicBound, PlaneBound), _answer("pairwise", "optimal_pairwise")),
    Entry(TableProblem, (ConvexBound, ConvexClaim), _answer("convex", "optimal_custom"), asked=CustomProblem),
)
"""Every problem there is, a line each."""

PROVEN_BY: dict[type[Problem], tuple[type[Evidence], ...]] = {entry.problem: entry.proven_by for entry in ENTRIES}
"""The problems that files hold, and for each the kinds of evidence that its designs may rest on."""

_ANSWERS = {entry.asked or entry.problem: entry.answer for entry in ENTRIES}


def solve(problem: Any, seconds: float | None = None) -> Design:
    """The certified answer to a design problem of any kind, or `NoAnswer` with bounds if ``seconds`` are not enough.

    It is what the problem's own function finds: `optimal_piecewise` for a `PiecewiseProblem`, and so on. Problems with
    an answer in closed form take no limit; joint responses have 60 seconds unless more are given.

    >>> from mechdesign.design import optimal_piecewise
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
