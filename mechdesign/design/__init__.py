"""One folder a design problem: a problem goes in, a `Design` (mechanism + certificate + report) comes out.

A folder holds the problem (``problem.py``), how it is solved (``search.py`` and its programs) and what proves the
answer (``proof.py``). `mechdesign.design.registry` lists them. Names are imported when they are asked for.
"""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.design.additive.problem import AdditiveProblem as AdditiveProblem
    from mechdesign.design.additive.search import optimal_additive as optimal_additive
    from mechdesign.design.additive.tuning import Tuning as Tuning, tune as tune
    from mechdesign.design.convex.problem import CustomProblem as CustomProblem, TableProblem as TableProblem
    from mechdesign.design.convex.search import custom as custom, optimal_custom as optimal_custom
    from mechdesign.design.floor import Floor as Floor, floor_of as floor_of
    from mechdesign.design.hidden_joint.problem import HiddenJointProblem as HiddenJointProblem
    from mechdesign.design.hidden_joint.search import optimal_hidden as optimal_hidden
    from mechdesign.design.joint.problem import JointProblem as JointProblem
    from mechdesign.design.joint.search import optimal_joint as optimal_joint
    from mechdesign.design.minimax.problem import MinimaxProblem as MinimaxProblem
    from mechdesign.design.minimax.search import minimax_sweep as minimax_sweep, optimal_minimax as optimal_minimax
    from mechdesign.design.piecewise.problem import PiecewiseProblem as PiecewiseProblem
    from mechdesign.design.piecewise.program import search_pieces as search_pieces
    from mechdesign.design.piecewise.regression import HeightFormula as HeightFormula, fit_height as fit_height
    from mechdesign.design.piecewise.search import optimal_piecewise as optimal_piecewise
    from mechdesign.design.polar.problem import PolarProblem as PolarProblem
    from mechdesign.design.polar.search import optimal_polar as optimal_polar
    from mechdesign.design.prior.problem import PriorProblem as PriorProblem
    from mechdesign.design.prior.search import optimal_prior as optimal_prior
    from mechdesign.design.registry import methods as methods, solve as solve
    from mechdesign.design.result import Certificate as Certificate, Design as Design, Report as Report
    from mechdesign.design.saved import load_design as load_design
    from mechdesign.design.trade_off.problem import TradeOffProblem as TradeOffProblem
    from mechdesign.design.trade_off.search import optimal_trade_off as optimal_trade_off, pareto as pareto
    from mechdesign.design.unbiased.problem import UnbiasedProblem as UnbiasedProblem
    from mechdesign.design.unbiased.search import optimal_unbiased as optimal_unbiased
    from mechdesign.design.workload.problem import WorkloadProblem as WorkloadProblem
    from mechdesign.design.workload.search import optimal_workload as optimal_workload
else:
    __getattr__, __dir__ = facade(__name__)
