"""The means of several numbers of each person under one epsilon: the design, rivals, and a collection to its estimates.

With --send the file of --data becomes what people send; --reports estimates from such a file.
"""

from __future__ import annotations

from mechdesign.cli.sent import Sent
from mechdesign.cli.studies import deliver
from mechdesign.studies.vector import ANSWERS as ANSWERS, VectorStudy

READS_DATA = True
EXAMPLE = "vector --eps 4 --count 10 --users 100000"


def run(study: VectorStudy, sent: Sent) -> None:
    deliver(study, sent)
