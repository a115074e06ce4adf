"""Questions about mechanisms and data, each a frozen value with options, and their answers."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.studies.additive import AdditiveStudy as AdditiveStudy
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
    from mechdesign.values.answers import Answer as Answer, Study as Study
else:
    __getattr__, __dir__ = facade(__name__)
