"""Published mechanisms, and your own, compared: errors over epsilon, and how far each is above the certified optimum.

Your own come from files, and what they give away is decided, not believed. A matrix of probabilities (--channel) has a
row for each input and a column for each output, with labels in its first column and line, or without; labels that are
increasing numbers are the inputs and outputs, else --loss-matrix says what each output costs at each input. Saved
designs and tables stand among the --mechanisms. Without --eps it is what the file spends.
"""

from __future__ import annotations

from typing import Annotated

from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.cli.studies import ask, told
from mechdesign.errors import InvalidInput
from mechdesign.studies.compare import ANSWERS as ANSWERS, CompareStudy

EXAMPLE = "compare --eps 1"


def run(study: CompareStudy, sent: Annotated[Sent, Part(out="Save every number, the optimum's too, as .csv.")]) -> None:
    if sent.out is not None and sent.out.suffix.lower() != ".csv":
        raise InvalidInput("output file", str(sent.out), "end in .csv", "for example --out errors.csv")
    found = ask(study, sent)
    sent.keep(found.csv())
    told(found, study, sent)
