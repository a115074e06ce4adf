"""Numbers and categories of each person under one epsilon: which questions are drawn, and estimates.

The error of all answers, weighed, is ranked beside splitting epsilon and published ways.
"""

from __future__ import annotations

from mechdesign.cli.sent import Said
from mechdesign.cli.studies import give
from mechdesign.studies.record import ANSWERS as ANSWERS, RecordStudy

READS_DATA = True
EXAMPLE = "record --eps 2 --columns age,income --bounds '18,90;0,100' --categories 'city=Bern,Rome,Ulm;smokes=no,yes'"


def run(study: RecordStudy, sent: Said) -> None:
    give(study, sent)
