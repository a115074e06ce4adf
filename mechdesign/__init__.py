"""Design local differential privacy mechanisms by optimisation, with proofs.

>>> import mechdesign as md
>>> design = md.optimal_piecewise(md.PiecewiseProblem(epsilon=1.0, loss=md.Squared()))
>>> round(design.mechanism.high, 4), design.certificate.valid_for
(1.5093, 'piecewise mechanisms')
>>> bool(design.certificate.lower <= design.certificate.upper <= design.certificate.lower + 1e-12)
True
"""

from mechdesign.values.facade import facade

TYPE_CHECKING = False  # for type checkers, who know the name; every import costs time before Ctrl-C has a handler
if TYPE_CHECKING:
    from mechdesign import (
        collect as collect,
        deploy as deploy,
        design as design,
        mechanisms as mechanisms,
        models as models,
        plot as plot,
        priors as priors,
        privacy as privacy,
        studies as studies,
    )
    from mechdesign.advice import Advice as Advice, advise as advise
    from mechdesign.classes import (
        All as All,
        InPlane as InPlane,
        Onto as Onto,
        UnbiasedPiecewise as UnbiasedPiecewise,
    )
    from mechdesign.criteria import Average as Average, Lexicographic as Lexicographic, Worst as Worst
    from mechdesign.deploy.making import make_table as make_table
    from mechdesign.deploy.table import Table as Table, load_table as load_table
    from mechdesign.design.additive.problem import AdditiveProblem as AdditiveProblem
    from mechdesign.design.additive.search import optimal_additive as optimal_additive
    from mechdesign.design.convex.problem import CustomProblem as CustomProblem
    from mechdesign.design.convex.search import optimal_custom as optimal_custom
    from mechdesign.design.floor import floor_of as floor_of
    from mechdesign.design.hidden_joint.problem import HiddenJointProblem as HiddenJointProblem
    from mechdesign.design.hidden_joint.search import optimal_hidden as optimal_hidden
    from mechdesign.design.joint.problem import JointProblem as JointProblem
    from mechdesign.design.joint.search import optimal_joint as optimal_joint
    from mechdesign.design.minimax.problem import MinimaxProblem as MinimaxProblem
    from mechdesign.design.minimax.search import minimax_sweep as minimax_sweep, optimal_minimax as optimal_minimax
    from mechdesign.design.piecewise.problem import PiecewiseProblem as PiecewiseProblem
    from mechdesign.design.piecewise.program import search_pieces as search_pieces
    from mechdesign.design.piecewise.regression import fit_height as fit_height
    from mechdesign.design.piecewise.search import optimal_piecewise as optimal_piecewise
    from mechdesign.design.polar.problem import PolarProblem as PolarProblem
    from mechdesign.design.polar.search import optimal_polar as optimal_polar
    from mechdesign.design.prior.problem import PriorProblem as PriorProblem
    from mechdesign.design.prior.search import optimal_prior as optimal_prior
    from mechdesign.design.registry import methods as methods, solve as solve
    from mechdesign.design.result import Certificate as Certificate, Design as Design
    from mechdesign.design.saved import load_design as load_design
    from mechdesign.design.trade_off.problem import TradeOffProblem as TradeOffProblem
    from mechdesign.design.trade_off.search import optimal_trade_off as optimal_trade_off, pareto as pareto
    from mechdesign.design.unbiased.problem import UnbiasedProblem as UnbiasedProblem
    from mechdesign.design.unbiased.search import optimal_unbiased as optimal_unbiased
    from mechdesign.design.workload.problem import WorkloadProblem as WorkloadProblem
    from mechdesign.design.workload.search import optimal_workload as optimal_workload
    from mechdesign.domains import Circle as Circle, Finite as Finite, Interval as Interval
    from mechdesign.errors import (
        BrokenExtra as BrokenExtra,
        CheckFailed as CheckFailed,
        FileProblem as FileProblem,
        InvalidInput as InvalidInput,
        MechDesignError as MechDesignError,
        MissingExtra as MissingExtra,
        NoAnswer as NoAnswer,
        SolverFailed as SolverFailed,
    )
    from mechdesign.exact.privacy import prove_privacy as prove_privacy
    from mechdesign.field import field_of as field_of
    from mechdesign.finite_losses import Distances as Distances, Matrix as Matrix, euclidean as euclidean
    from mechdesign.losses import Absolute as Absolute, Custom as Custom, Power as Power, Squared as Squared
    from mechdesign.mechanisms import catalogue as catalogue
    from mechdesign.pairs import Metric as Metric, Pairwise as Pairwise
    from mechdesign.privacy import Pure as Pure
    from mechdesign.problem import Problem as Problem
    from mechdesign.studies.bench import BenchStudy as BenchStudy
    from mechdesign.studies.budget import BudgetStudy as BudgetStudy
    from mechdesign.studies.capacity import CapacityStudy as CapacityStudy
    from mechdesign.studies.classifier import ClassifierStudy as ClassifierStudy
    from mechdesign.studies.compare import CompareStudy as CompareStudy
    from mechdesign.studies.gain import GainStudy as GainStudy
    from mechdesign.studies.mean import ColumnMean as ColumnMean
else:
    __getattr__, __dir__ = facade(__name__)

__version__ = "0.1.0"
