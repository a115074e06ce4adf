"""One module a design problem: a problem goes in, a `Design` (mechanism + certificate + report) comes out."""

from typing import TYPE_CHECKING

from mechdesign.design.additive import AdditiveProblem, Tuning, optimal_additive, tune
from mechdesign.design.custom import CustomProblem, custom, optimal_custom
from mechdesign.design.finite import FiniteProblem, euclidean, optimal_finite
from mechdesign.design.floor import Floor, floor_of
from mechdesign.design.joint import JointDesign, JointProblem, load_joint, optimal_joint, save_joint
from mechdesign.design.minimax import MinimaxProblem, minimax_sweep, optimal_minimax
from mechdesign.design.piecewise import HeightFormula, PiecewiseProblem, fit_height, optimal_piecewise
from mechdesign.design.polar import PolarProblem, optimal_polar
from mechdesign.design.prior import PriorProblem, optimal_prior
from mechdesign.design.result import Certificate, Design, Report
from mechdesign.design.saved import SavedDesign, load_design
from mechdesign.design.trade_off import TradeOffProblem, optimal_trade_off, pareto
from mechdesign.design.unbiased import UnbiasedProblem, optimal_unbiased
from mechdesign.design.unbiased_piecewise import UnbiasedPiecewiseProblem, optimal_unbiased_piecewise

if TYPE_CHECKING:
    from mechdesign.design.piecewise.program import search_pieces as search_pieces

__all__ = [
    "AdditiveProblem",
    "Certificate",
    "CustomProblem",
    "Design",
    "FiniteProblem",
    "Floor",
    "HeightFormula",
    "JointDesign",
    "JointProblem",
    "MinimaxProblem",
    "PiecewiseProblem",
    "PolarProblem",
    "PriorProblem",
    "Report",
    "SavedDesign",
    "TradeOffProblem",
    "Tuning",
    "UnbiasedPiecewiseProblem",
    "UnbiasedProblem",
    "custom",
    "euclidean",
    "fit_height",
    "floor_of",
    "load_design",
    "load_joint",
    "minimax_sweep",
    "optimal_additive",
    "optimal_custom",
    "optimal_finite",
    "optimal_joint",
    "optimal_minimax",
    "optimal_piecewise",
    "optimal_polar",
    "optimal_prior",
    "optimal_trade_off",
    "optimal_unbiased",
    "optimal_unbiased_piecewise",
    "pareto",
    "save_joint",
    "search_pieces",
    "tune",
]


def __getattr__(name: str) -> object:
    # the solvers are only paid for by those who ask for them
    if name == "search_pieces":
        from mechdesign.design.piecewise.program import search_pieces

        return search_pieces
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
