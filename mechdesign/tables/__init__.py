"""What leaves the notebook: tables of whole numbers, their file and checker, samplers from the operating system's
randomness and their sources in other languages, data files and frames, estimates and accounting of reports."""

from typing import TYPE_CHECKING

from mechdesign.values.facade import facade

if TYPE_CHECKING:
    from mechdesign.tables import reports as reports
    from mechdesign.tables.accounting import privacy_loss_distribution as privacy_loss_distribution
    from mechdesign.tables.channels import Repaired as Repaired, repair as repair
    from mechdesign.tables.estimators import (
        DirectionEstimate as DirectionEstimate,
        FrequencyEstimate as FrequencyEstimate,
        MeanEstimate as MeanEstimate,
        Tally as Tally,
    )
    from mechdesign.tables.export import (
        LANGUAGES as LANGUAGES,
        PACKAGED as PACKAGED,
        Difference as Difference,
        PackageDifference as PackageDifference,
        export_package as export_package,
        export_table as export_table,
        package_difference as package_difference,
        source_difference as source_difference,
    )
    from mechdesign.tables.frames import (
        Applied as Applied,
        Misfits as Misfits,
        OnBad as OnBad,
        apply as apply,
        apply_dask as apply_dask,
        apply_folder as apply_folder,
        apply_table as apply_table,
        estimate as estimate,
        estimate_reports as estimate_reports,
        tally as tally,
    )
    from mechdesign.tables.frames_spark import apply_spark as apply_spark
    from mechdesign.tables.labels import Labels as Labels
    from mechdesign.tables.making import make_table as make_table, repaired as repaired
    from mechdesign.tables.parties import PartyRun as PartyRun, law_to_run as law_to_run, run_parties as run_parties
    from mechdesign.tables.processes import RunFailed as RunFailed
    from mechdesign.tables.reference import Stream as Stream, fixed_stream as fixed_stream, report as report
    from mechdesign.tables.rounding import BITS as BITS
    from mechdesign.tables.sampler import sample as sample
    from mechdesign.tables.servers import (
        ServersRun as ServersRun,
        deal as deal,
        drawn_delta as drawn_delta,
        run_servers as run_servers,
    )
    from mechdesign.tables.table import Table as Table, load_table as load_table
    from mechdesign.tables.vectors import test_vectors as test_vectors, vectors_content as vectors_content
else:
    __getattr__, __dir__ = facade(__name__)
