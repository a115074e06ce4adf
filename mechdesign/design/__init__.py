"""One folder a design problem: a problem goes in, a `Design` (mechanism + certificate + report) comes out.

A folder holds the problem (``problem.py``), how it is solved (``search.py`` and its programs) and what proves the
answer (``proof.py``). `mechdesign.design.registry` lists them. Names are imported when they are asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mechdesign.design.additive import AdditiveProblem, Tuning, optimal_additive, tune
    from mechdesign.design.convex import CustomProblem, TableProblem, custom, optimal_custom
    from mechdesign.design.finite import FiniteProblem, euclidean, optimal_finite
    from mechdesign.design.floor import Floor, floor_of
    from mechdesign.design.hidden_joint import HiddenJointProblem, optimal_hidden
    from mechdesign.design.information import InformationProblem, optimal_information
    from mechdesign.design.joint import JointProblem, optimal_joint
    from mechdesign.design.minimax import MinimaxProblem, minimax_sweep, optimal_minimax
    from mechdesign.design.pairwise import Distances, InPlane, PairwiseProblem, optimal_pairwise
    from mechdesign.design.piecewise import HeightFormula, PiecewiseProblem, fit_height, optimal_piecewise
    from mechdesign.design.piecewise.program import search_pieces
    from mechdesign.design.polar import PolarProblem, optimal_polar
    from mechdesign.design.prior import PriorProblem, optimal_prior
    from mechdesign.design.registry import solve
    from mechdesign.design.result import Certificate, Design, Report
    from mechdesign.design.saved import load_design
    from mechdesign.design.trade_off import TradeOffProblem, optimal_trade_off, pareto
    from mechdesign.design.unbiased import UnbiasedProblem, optimal_unbiased
    from mechdesign.design.unbiased_piecewise import UnbiasedPiecewiseProblem, optimal_unbiased_piecewise
    from mechdesign.design.workload import WorkloadProblem, optimal_workload

__all__ = [
    "AdditiveProblem",
    "Certificate",
    "CustomProblem",
    "Design",
    "Distances",
    "FiniteProblem",
    "Floor",
    "HeightFormula",
    "HiddenJointProblem",
    "InPlane",
    "InformationProblem",
    "JointProblem",
    "MinimaxProblem",
    "PairwiseProblem",
    "PiecewiseProblem",
    "PolarProblem",
    "PriorProblem",
    "Report",
    "TableProblem",
    "TradeOffProblem",
    "Tuning",
    "UnbiasedPiecewiseProblem",
    "UnbiasedProblem",
    "WorkloadProblem",
    "custom",
    "euclidean",
    "fit_height",
    "floor_of",
    "load_design",
    "minimax_sweep",
    "optimal_additive",
    "optimal_custom",
    "optimal_finite",
    "optimal_hidden",
    "optimal_information",
    "optimal_joint",
    "optimal_minimax",
    "optimal_pairwise",
    "optimal_piecewise",
    "optimal_polar",
    "optimal_prior",
    "optimal_trade_off",
    "optimal_unbiased",
    "optimal_unbiased_piecewise",
    "optimal_workload",
    "pareto",
    "search_pieces",
    "solve",
    "tune",
]

_MODULES = {
    "registry": ("solve",),
    "result": ("Certificate", "Design", "Report"),
    "saved": ("load_design",),
    "floor": ("Floor", "floor_of"),
    "piecewise": ("HeightFormula", "PiecewiseProblem", "fit_height", "optimal_piecewise"),
    "piecewise.program": ("search_pieces",),
    "unbiased_piecewise": ("UnbiasedPiecewiseProblem", "optimal_unbiased_piecewise"),
    "polar": ("PolarProblem", "optimal_polar"),
    "minimax": ("MinimaxProblem", "minimax_sweep", "optimal_minimax"),
    "prior": ("PriorProblem", "optimal_prior"),
    "trade_off": ("TradeOffProblem", "optimal_trade_off", "pareto"),
    "unbiased": ("UnbiasedProblem", "optimal_unbiased"),
    "additive": ("AdditiveProblem", "Tuning", "optimal_additive", "tune"),
    "finite": ("FiniteProblem", "euclidean", "optimal_finite"),
    "pairwise": ("Distances", "InPlane", "PairwiseProblem", "optimal_pairwise"),
    "convex": ("CustomProblem", "TableProblem", "custom", "optimal_custom"),
    "hidden_joint": ("HiddenJointProblem", "optimal_hidden"),
    "joint": ("JointProblem", "optimal_joint"),
    "workload": ("WorkloadProblem", "optimal_workload"),
    "information": ("InformationProblem", "optimal_information"),
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
