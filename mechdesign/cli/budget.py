"""The smallest epsilon that meets a utility constraint, by a search with a stated error rate or as Optimus has it.

The constraint is a metric with --at-least or --at-most and a --probability. Lists of protocols, thresholds and methods
are separated by commas; several protocols are ranked by the epsilon they need.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Drawn
from mechdesign.cli.signatures import Part
from mechdesign.cli.studies import ask, told
from mechdesign.studies.budget import ANSWERS as ANSWERS, BudgetStudy
from mechdesign.studies.budgets.runner import Settings
from mechdesign.values.declare import evolved

EXAMPLE = "budget -p grr --metric kendall --at-least 0.7 --population msnbc-like --phi 0.1"


def run(
    study: BudgetStudy,
    engines: Annotated[Engines, Part(workers="Local processes, for several searches.")],
    settings: Settings,
    sent: Drawn,
    curve: Annotated[
        Path | None, typer.Option("--curve", help="Picture of utility and adversary over eps: .png, .pdf or .svg.")
    ] = None,
) -> None:
    study = evolved(study, settings=settings, engine=engines.engine())
    found = ask(study, sent, curve)
    if curve is not None:
        sent.draw(found.curve(), curve)
    told(found, study, sent, curve)
