"""What a file of reports says: the mean, frequencies or direction of the data, each with a confidence interval.

In place of a table there may be a survey: what clients of a protocol ran, ours or another package's. The reports may be
a file of envelopes: each counts once.

With --bins it is a histogram of numbers, by EM, without intervals: from reports of square waves (table --mechanism sw).

A table with labels reads labels and gives their frequencies; with --codes, and only then, the reports are the numbers
of the table's outputs, which a sampler gives that knows no labels. Reports that a device made (export --reports) are
estimated with --device: through all that it draws, and with people counted, each with as many reports as it may send.
A Parquet file can be counted by several processes
or on a Dask cluster whose workers see it under the same name; the answer is the same.
"""

from __future__ import annotations

from typing import Annotated

from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import Part
from mechdesign.cli.studies import give
from mechdesign.studies.estimate import ANSWERS as ANSWERS, EstimateStudy
from mechdesign.values.declare import evolved

EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv
estimate smokes.json --in told.csv --column smokes"""


def run(
    study: EstimateStudy,
    engines: Annotated[Engines, Part(workers="Processes, for a huge .parquet file.")],
    sent: Said,
) -> None:
    give(evolved(study, engine=engines.engine()), sent)
