"""Design local differential privacy mechanisms by optimisation, with proofs.

>>> import mechdesign as md
>>> problem = md.Problem(inputs=(0, 1), loss="squared", privacy=md.Pure(1.0), among=md.Piecewise())
>>> design = md.solve(problem)
>>> round(design.mechanism.high, 4), design.certificate.valid_for
(1.5093, 'piecewise mechanisms')
>>> bool(design.certificate.lower <= design.certificate.upper <= design.certificate.lower + 1e-12)
True
"""

from mechdesign.values.facade import facade

TYPE_CHECKING = False  # for type checkers, who know the name; every import costs time before Ctrl-C has a handler
if TYPE_CHECKING:
    from mechdesign import mechanisms as mechanisms, plot as plot, studies as studies, tables as tables
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
    from mechdesign.mechanisms import catalogue as catalogue
    from mechdesign.methods.floor import floor_of as floor_of
    from mechdesign.methods.minimax.search import minimax_sweep as minimax_sweep
    from mechdesign.methods.piecewise.regression import fit_height as fit_height
    from mechdesign.methods.registry import methods as methods, solve as solve
    from mechdesign.methods.result import Certificate as Certificate, Design as Design, Report as Report
    from mechdesign.methods.saved import load_design as load_design
    from mechdesign.methods.trade_off.search import pareto as pareto
    from mechdesign.studies import frequencies as frequencies
    from mechdesign.studies.additive import AdditiveStudy as AdditiveStudy
    from mechdesign.studies.advice import Advice as Advice, advise as advise
    from mechdesign.studies.bench import BenchStudy as BenchStudy
    from mechdesign.studies.budget import BudgetStudy as BudgetStudy
    from mechdesign.studies.capacity import CapacityStudy as CapacityStudy
    from mechdesign.studies.classifier import ClassifierStudy as ClassifierStudy
    from mechdesign.studies.compare import CompareStudy as CompareStudy
    from mechdesign.studies.counts import CountStudy as CountStudy
    from mechdesign.studies.estimate import EstimateStudy as EstimateStudy
    from mechdesign.studies.gain import GainStudy as GainStudy
    from mechdesign.studies.joint import JointStudy as JointStudy
    from mechdesign.studies.joint_hidden import HiddenJointStudy as HiddenJointStudy
    from mechdesign.studies.joint_inside import InsideStudy as InsideStudy
    from mechdesign.studies.mean import ColumnMean as ColumnMean
    from mechdesign.studies.optimum import (
        OptimumStudy as OptimumStudy,
        ParetoStudy as ParetoStudy,
        SweepStudy as SweepStudy,
    )
    from mechdesign.studies.pairs import PairsStudy as PairsStudy
    from mechdesign.studies.path_errors import PathStudy as PathStudy
    from mechdesign.studies.path_reports import PerturbStudy as PerturbStudy, ReleaseStudy as ReleaseStudy
    from mechdesign.studies.record import RecordStudy as RecordStudy
    from mechdesign.studies.vector import VectorStudy as VectorStudy
    from mechdesign.studies.workload import WorkloadStudy as WorkloadStudy
    from mechdesign.tables.making import make_table as make_table
    from mechdesign.tables.table import Table as Table, load_table as load_table
    from mechdesign.words import models as models, priors as priors, privacy as privacy, workloads as workloads
    from mechdesign.words.classes import (
        All as All,
        InPlane as InPlane,
        OnGrid as OnGrid,
        Onto as Onto,
        Piecewise as Piecewise,
        Together as Together,
        Unbiased as Unbiased,
        UnbiasedPiecewise as UnbiasedPiecewise,
    )
    from mechdesign.words.counts import Count as Count
    from mechdesign.words.criteria import (
        At as At,
        Average as Average,
        Lexicographic as Lexicographic,
        Total as Total,
        Worst as Worst,
    )
    from mechdesign.words.domains import (
        Circle as Circle,
        Finite as Finite,
        Interval as Interval,
        Product as Product,
        cube_of as cube_of,
    )
    from mechdesign.words.finite_losses import Distances as Distances, Matrix as Matrix, euclidean as euclidean
    from mechdesign.words.losses import Absolute as Absolute, Custom as Custom, Power as Power, Squared as Squared
    from mechdesign.words.objectives import Objective as Objective
    from mechdesign.words.pairs import Metric as Metric, Pairwise as Pairwise
    from mechdesign.words.privacy import (
        Approximate as Approximate,
        Collusion as Collusion,
        Hidden as Hidden,
        Pure as Pure,
    )
    from mechdesign.words.problem import Problem as Problem
    from mechdesign.words.vectors import Ball as Ball, CrossPolytope as CrossPolytope, Sphere as Sphere
else:
    __getattr__, __dir__ = facade(__name__, packages=("methods",))

__version__ = "0.1.0"
