"""Places or numbers that are the better protected the nearer they are: the certified optimum of metric privacy.

Reports of two places at distance d differ in likelihood by at most e^(eps d / per). --points is a CSV file with columns
x and y (a plane), latitude and longitude (in degrees; distances in kilometres), or x alone (numbers).
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mechdesign.cli import output
from mechdesign.cli.options import BestSoFar, Eps, NoCompare, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import column_names, completion
from mechdesign.cli.studies import deliver
from mechdesign.data.places import read_places
from mechdesign.errors import require_epsilon
from mechdesign.studies.pairs import ANSWERS as ANSWERS, PairsStudy, usual_gap
from mechdesign.studies.questions import LOSSES_OF_PLACES, places_problem
from mechdesign.words.criteria import CRITERIA

EXAMPLE = """\
examples
metric --points corners.csv --eps 1 --prior people"""


def run(
    points: Annotated[Path, typer.Option("--points", help="Places, a line each: .csv with named columns.")],
    eps: Eps,
    sent: Sent,
    per: Annotated[
        float | None, typer.Option("--per", help="Of so many units (kilometres on the globe); 1 unless given.")
    ] = None,
    loss: Annotated[
        str,
        typer.Option(
            "--loss",
            help="euclidean, squared, or a matrix: .csv or .npy.",
            metavar="LOSS",
            autocompletion=completion(lambda: LOSSES_OF_PLACES),
        ),
    ] = "euclidean",
    criterion: Annotated[
        str,
        typer.Option(
            "--criterion", help="prior (default), worst or lexicographic.", autocompletion=completion(lambda: CRITERIA)
        ),
    ] = "prior",
    slack: Annotated[
        float | None,
        typer.Option("--slack", help="Worst case at most 1 + S times the least.", metavar="S"),
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option("--prior", help="Column of --points with weights.", metavar="COLUMN", autocompletion=column_names),
    ] = None,
    free: Annotated[bool, typer.Option("--free", help="Reports may be any place of the plane.")] = False,
    gap: Annotated[float | None, typer.Option("--gap", help="Relative gap of the proven bounds to reach.")] = None,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 300.0,
    best_so_far: BestSoFar = False,
) -> None:
    require_time_limit(time_limit)
    sent.require_writable()
    output.require_apart((sent.out, sent.plot), (points,))
    found = read_places(points, prior)
    problem = places_problem(found, require_epsilon(eps), per, loss, criterion, slack, free=free)
    wide = usual_gap(problem) if gap is None else gap
    deliver(PairsStudy(problem, time_limit, wide, best_so_far, not no_compare and sent.shows_field), sent)
