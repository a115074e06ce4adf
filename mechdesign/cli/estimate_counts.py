"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals.

Reports that do not fit what they are said to be are refused. Users with epsilons or protocols of their own are groups:
a file and a --survey each, in one order. Then ibu is GIBU: the likelihood is the sum over the groups.
"""

from __future__ import annotations

from typing import Annotated

from mechdesign.cli.sent import Sent, kept
from mechdesign.cli.studies import ask, told
from mechdesign.errors import InvalidInput
from mechdesign.studies.counts import ANSWERS as ANSWERS, FORMS, CountStudy

READS_DATA = True
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv
estimate-counts told.csv -p grr --eps 1 --domain no,yes"""


def run(study: CountStudy, sent: Annotated[Sent, kept("Save all items: .csv or .json.")]) -> None:
    if sent.out is not None and sent.out.suffix.lower() not in FORMS:
        raise InvalidInput("output file", str(sent.out), "end in .csv or .json", "for example --out counts.csv")
    found = ask(study, sent)
    if sent.out is not None:
        sent.keep(found.json() if sent.out.suffix.lower() == ".json" else found.csv())
    told(found, study, sent)
