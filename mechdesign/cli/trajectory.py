"""Paths of locations: perturbed under privacy, compared, and released with tables."""

from __future__ import annotations

from typing import Annotated

import typer

from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Drawn, Written
from mechdesign.cli.signatures import Part, expanded
from mechdesign.cli.studies import give
from mechdesign.studies import path_errors, path_reports
from mechdesign.studies.path_errors import PathStudy
from mechdesign.studies.path_reports import PerturbStudy, ReleaseStudy
from mechdesign.values.declare import evolved

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False, rich_markup_mode=None)

ANSWERS = {"perturb": path_reports.ANSWERS, "apply": path_reports.ANSWERS, "compare": path_errors.ANSWERS}
READS_DATA = True
EXAMPLES = {
    "perturb": """\
examples
trajectory perturb places.csv --eps 8 --bounds=139.47,139.90,35.51,35.86 --out told.csv""",
    "apply": """\
examples
table --eps 2 --mechanism ogpm --domain 139.47,139.90 --out lon.json
table --eps 2 --mechanism ogpm --domain 35.51,35.86 --out lat.json
trajectory apply places.csv --x-table lon.json --y-table lat.json --bounds=139.47,139.90,35.51,35.86 --out told.csv""",
    "compare": "trajectory compare --eps 4 --paths 10 --length 20 --seed 1",
}


@app.command("perturb")
@expanded
def perturb(
    study: PerturbStudy,
    engines: Annotated[Engines, Part(workers="Processes, for several files.")],
    sent: Drawn,
) -> None:
    """Simulated reports of paths, location by location. For data about people use `trajectory apply`."""
    if len(study.tasks) > 1:
        sent.refuse_picture("be left out for several files", "draw one of them")
    give(evolved(study, overwrite=sent.force, engine=engines.engine()), sent)


@app.command("apply")
@expanded
def apply(study: ReleaseStudy, sent: Written) -> None:
    """Reports for release: drawn from two tables with the operating system's randomness, exactly private, no seed."""
    give(evolved(study, overwrite=sent.force), sent)


@app.command("compare")
@expanded
def compare(study: PathStudy, sent: Drawn) -> None:
    """Path mechanisms beside each other over eps, on made or given paths, with the constant answer."""
    give(study, sent)
