"""What leaves the notebook: tables of whole numbers, their file, their checker, and samplers from OS randomness."""

from mechdesign.deploy.channels import Repaired, repair
from mechdesign.deploy.parties import PartyRun, RunFailed, run_parties
from mechdesign.deploy.reference import Stream, fixed_stream, report, test_vectors, vectors_content
from mechdesign.deploy.sampler import sample
from mechdesign.deploy.table import BITS, Table, load_table, make_table, repaired

__all__ = [
    "BITS",
    "PartyRun",
    "Repaired",
    "RunFailed",
    "Stream",
    "Table",
    "fixed_stream",
    "load_table",
    "make_table",
    "repair",
    "repaired",
    "report",
    "run_parties",
    "sample",
    "test_vectors",
    "vectors_content",
]
