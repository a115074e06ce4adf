"""Additive noise for mean estimation (AAA): unbiased, with a law of its own for each input, optimal under a prior.

A design made with --data tells about that column, without any privacy: design from public data, or collect with `mean`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, cast

import typer

from mechdesign.cli.options import DomainText, NoCompare, parse_interval, require_time_limit
from mechdesign.cli.sent import Sent
from mechdesign.cli.signatures import Asked, Mirror, completion
from mechdesign.cli.studies import deliver
from mechdesign.errors import require_epsilon, require_one_of
from mechdesign.mechanisms import catalogue
from mechdesign.methods.additive.supports import usual_bins
from mechdesign.methods.method import Demands
from mechdesign.studies.additive import ADDITIVE, ANSWERS as ANSWERS, NAMES, AdditiveStudy, Form
from mechdesign.studies.mean import parse_bounds
from mechdesign.studies.questions import prior_in_bounds
from mechdesign.values.rules import comes_with, exactly_one, left_out_with
from mechdesign.words.classes import OnGrid
from mechdesign.words.criteria import Average
from mechdesign.words.losses import Squared
from mechdesign.words.priors import Prior, parse_prior
from mechdesign.words.privacy import Pure
from mechdesign.words.problem import Problem

_REVEALS = (
    "the design was made from the rows as they are and reveals this column: design from public data, "
    "or collect under privacy with mean or collect.TwoPhasePlan"
)
EXAMPLE = "aaa --eps 1 --prior normal:0,0.2 --bins 32"
RULES = (
    exactly_one("prior", "data", step="give one or the other, for example --prior normal:0,0.2"),
    comes_with("column", "clip", data=(), step="add --data FILE.csv"),
    comes_with("bounds", data=(), step="use --domain"),
    left_out_with("data", "domain", why="use --bounds"),
    left_out_with("tuned", "bins", "reach", why="it finds them"),
)


def run(
    asked: Annotated[Asked, Mirror(Pure, Average, OnGrid, Demands)],
    sent: Sent,
    domain: DomainText = None,
    data: Annotated[
        Path | None, typer.Option("--data", help="The prior is a CSV file's column, which the design reveals.")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="The column of --data.")] = None,
    bounds: Annotated[
        str | None, typer.Option("--bounds", help="With --data: what values can be, as LO,HI.", metavar="LO,HI")
    ] = None,
    clip: Annotated[bool, typer.Option("--clip", help="Move values outside the bounds to the nearer end.")] = False,
    tuned: Annotated[
        bool, typer.Option("--tune", help="Find --bins and --reach by the total variance, rounding included.")
    ] = False,
    form: Annotated[
        str,
        typer.Option(
            "--form",
            help="What --out and --plot are about: additive, or free for any real reports.",
            autocompletion=completion(lambda: NAMES),
        ),
    ] = ADDITIVE,
    no_compare: NoCompare = False,
    time_limit: Annotated[float, typer.Option("--time-limit", help="Seconds in all.", metavar="S")] = 120.0,
) -> None:
    epsilon = require_epsilon(asked["epsilon"])
    require_time_limit(time_limit)
    chosen = cast(Form, require_one_of(form, "form", NAMES))
    sent.require_writable()
    law: Prior
    if data is None:
        inputs = catalogue.SYMMETRIC if domain is None else parse_interval(domain, "domain")
        law, clipped = parse_prior(asked["prior"], inputs), 0.0
    else:
        inputs = parse_bounds(bounds)
        law, clipped = prior_in_bounds(data, column, inputs, clip=clip)
    grid = asked.of(OnGrid, bins=usual_bins(epsilon) if asked["bins"] is None else asked["bins"])
    problem = Problem(inputs=inputs, loss=Squared(), privacy=Pure(epsilon), criterion=Average(law), among=grid)
    is_seen, notes = sent.shows_field and not no_compare, () if data is None else (_REVEALS,)
    deliver(AdditiveStudy(problem, tuned, chosen, time_limit, asked["gap"], is_seen, clipped, notes), sent)
