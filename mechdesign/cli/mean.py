"""The mean of a column of data, collected under privacy: estimate, interval, and the error without privacy."""

from __future__ import annotations

from mechdesign.cli.sent import Drawn
from mechdesign.cli.studies import give
from mechdesign.studies.mean import ANSWERS as ANSWERS, ColumnMean

READS_DATA = True
EXAMPLE = """\
examples
mean ages.csv --column age --eps 1 --bounds 18,90 --mechanism pm --seed 1"""


def run(study: ColumnMean, sent: Drawn) -> None:
    give(study, sent)
