"""The smallest epsilon that keeps capacity alarms right (CAPRI): exactly, without simulation, or simulated.

Frequency protocols and unbiased numeric mechanisms (pm, hm, laplace, ..., certified) compete for the smallest epsilon
that meets --metric and --tau; with --at-eps the probabilities of all four events at that epsilon are computed instead.
Data are consumptions, one household a row. Lists are separated by commas.
"""

from __future__ import annotations

from typing import Annotated

from mechdesign.cli.sent import Drawn
from mechdesign.cli.signatures import Part
from mechdesign.cli.studies import give
from mechdesign.studies.budgets.capacity import RUNS
from mechdesign.studies.budgets.runner import Settings
from mechdesign.studies.budgets.searches import MOST_RUNS
from mechdesign.studies.capacity import EXACT, CapacityStudy, shapes as shapes
from mechdesign.values.declare import evolved

EXAMPLE = "capacity -p grr,oue,pm --capacity 1700000 --metric fp --tau 0.05 --population water-like"


def run(
    study: CapacityStudy,
    settings: Annotated[
        Settings,
        Part(
            "error",
            runs=f"N, collections at an eps [all but {EXACT} and dbs: {RUNS}].",
            most_runs=f"N_max, the most collections at an eps [dbs: {MOST_RUNS}].",
        ),
    ],
    sent: Drawn,
) -> None:
    if study.at_eps is not None:
        sent.refuse_picture("be left out with --at-eps", "there is no search")
    give(evolved(study, settings=settings), sent)
