"""What leaves the notebook: tables of whole numbers, their file and checker, samplers from the operating system's
randomness and their sources in other languages, data files and frames, estimates and accounting of reports."""

from mechdesign.deploy import reports
from mechdesign.deploy.accounting import privacy_loss_distribution
from mechdesign.deploy.channels import Repaired, repair
from mechdesign.deploy.estimators import DirectionEstimate, FrequencyEstimate, MeanEstimate, Tally
from mechdesign.deploy.export import (
    LANGUAGES,
    PACKAGED,
    Difference,
    PackageDifference,
    export_package,
    export_table,
    package_difference,
    source_difference,
)
from mechdesign.deploy.frames import (
    Applied,
    Misfits,
    OnBad,
    apply,
    apply_dask,
    apply_folder,
    apply_table,
    estimate,
    estimate_reports,
    tally,
)
from mechdesign.deploy.frames_spark import apply_spark
from mechdesign.deploy.labels import Labels
from mechdesign.deploy.making import make_table, repaired
from mechdesign.deploy.parties import PartyRun, law_to_run, run_parties
from mechdesign.deploy.processes import RunFailed
from mechdesign.deploy.reference import Stream, fixed_stream, report
from mechdesign.deploy.rounding import BITS
from mechdesign.deploy.sampler import sample
from mechdesign.deploy.servers import ServersRun, deal, drawn_delta, run_servers
from mechdesign.deploy.table import Table, load_table
from mechdesign.deploy.vectors import test_vectors, vectors_content

__all__ = [
    "BITS",
    "LANGUAGES",
    "PACKAGED",
    "Applied",
    "Difference",
    "DirectionEstimate",
    "FrequencyEstimate",
    "Labels",
    "MeanEstimate",
    "Misfits",
    "OnBad",
    "PackageDifference",
    "PartyRun",
    "Repaired",
    "RunFailed",
    "ServersRun",
    "Stream",
    "Table",
    "Tally",
    "apply",
    "apply_dask",
    "apply_folder",
    "apply_spark",
    "apply_table",
    "deal",
    "drawn_delta",
    "estimate",
    "estimate_reports",
    "export_package",
    "export_table",
    "fixed_stream",
    "law_to_run",
    "load_table",
    "make_table",
    "package_difference",
    "privacy_loss_distribution",
    "repair",
    "repaired",
    "report",
    "reports",
    "run_parties",
    "run_servers",
    "sample",
    "source_difference",
    "tally",
    "test_vectors",
    "vectors_content",
]
