"""Protocols and post-processing compared on given data, over epsilon: ranked, with confidence intervals.

LDP3's command lines run as they are: -e -p -m -r -t -d -u, lists separated by blanks or by commas. Two of its metrics
have other names here: its l1, which is a mean, is mae (l1 is the sum), and the kl of its code, with truth and
estimate exchanged, is kl-reversed (kl is as its page has it).

Its Norm-Cut is norm-cut-ldp3.

Protocols, post-processings and metrics of your own are module:name: bench runs the code of module.py in this folder. A
protocol is two functions, perturb(value, eps, k) and aggregate(reports, eps, k), run user by user.
"""

from __future__ import annotations

from typing import Annotated

from mechdesign.cli import own_code
from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Part
from mechdesign.cli.studies import ask, told
from mechdesign.studies.bench import ANSWERS as ANSWERS, BenchStudy, Kind, joined_lists
from mechdesign.values.declare import evolved

EXAMPLE = """\
examples
bench -e 1 -d categories.csv --column app -p oue,grr -m norm-sub -r 3"""

arguments = joined_lists
"""What a shell gave, with lists that are separated by blanks."""


def run(
    study: BenchStudy,
    engines: Engines,
    sent: Annotated[Sent, Part(out="Save every cell: .csv, .parquet or .json.")],
    kind: Kind,
) -> None:
    own = own_code.named_code((*study.protocols, *study.methods, *study.metrics))
    study = evolved(study, own=own, engine=engines.engine())
    study.require_engine(engines.name)
    if sent.out is not None:
        study.require_table(sent.out)
    kind.require(study.epsilons, sent.plot)
    found = ask(study, sent)
    if sent.out is not None:
        sent.keep(found.table(sent.out.suffix.lower()))
    told(evolved(found, kind=kind.kind), study, sent)
