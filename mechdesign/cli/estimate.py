"""What a file of reports says: the mean, frequencies or direction of the data, each with a confidence interval.

A table with labels reads labels and gives their frequencies; with --codes, and only then, the reports are the numbers
of the table's outputs, which a sampler gives that knows no labels. A Parquet file can be counted by several processes
or on a Dask cluster whose workers see it under the same name; the answer is the same.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from mechdesign.cli import output
from mechdesign.cli.apply import counting_rows
from mechdesign.cli.options import AsJson, Quiet, parse_engine
from mechdesign.cli.table import CODES_LOOK_LIKE_LABELS
from mechdesign.deploy import load_table
from mechdesign.deploy.estimators import FrequencyEstimate, MeanEstimate
from mechdesign.deploy.frames import estimate_reports
from mechdesign.engine import Local


def run(
    file: Annotated[Path, typer.Argument(help="The table the reports were drawn from.", metavar="TABLE")],
    source: Annotated[Path, typer.Option("--in", help="The reports: .csv with a header, or .parquet.", metavar="DATA")],
    column: Annotated[
        str | None, typer.Option("--column", help="Their column (if the file does not say).", metavar="NAME")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals, between 0 and 1.")] = 0.95,
    frequencies: Annotated[bool, typer.Option("--frequencies", help="Of the points of a finite domain.")] = False,
    codes: Annotated[
        bool, typer.Option("--codes", help="The reports are the numbers of the outputs, not their labels.")
    ] = False,
    workers: Annotated[int, typer.Option("--workers", "-t", help="Processes, for a huge .parquet file.")] = 1,
    engine: Annotated[str, typer.Option("--engine", help="local processes or dask.")] = "local",
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", help="Address of a Dask scheduler.", metavar="TCP")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    where = parse_engine(engine, workers, scheduler)
    table = load_table(file)
    wanted = "frequencies" if frequencies else None
    with counting_rows(f"counting {source.name}", quiet=quiet) as progress:
        engine_or_none = None if where == Local(1) else where
        found = estimate_reports(
            table, source, column, confidence, of=wanted, progress=progress, engine=engine_or_none, codes=codes
        )
    if table.output_names is not None and table.output_names.look_like_codes:
        output.warn(f"read as {'codes' if codes else 'labels'}: {CODES_LOOK_LIKE_LABELS}")
    if as_json:
        output.print_json({"sha256": table.sha256, "confidence": confidence} | _plain(asdict(found)))
    elif isinstance(found, FrequencyEstimate):
        _print_frequencies(found, confidence)
    else:
        what = "direction" if table.document["domain"]["kind"] == "circle" else "mean"
        output.console.print(
            f"{what}: {output.number(found.estimate)} in "
            f"[{output.number(found.lower)}, {output.number(found.upper)}] "
            f"with confidence {confidence:g}, from {found.count:,} reports",
            soft_wrap=True,
        )
        half = (found.upper - found.lower) / 2
        if isinstance(found, MeanEstimate) and found.bias > half / 2:
            output.console.print(
                f"  of the half-width {output.number(half)}, {output.number(found.bias)} is the table's bias bound, "
                "which more reports do not narrow;\n"
                "  an unbiased table (minimax --unbiased, or --mechanism pm) has none",
                soft_wrap=True,
            )


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: value.tolist() if isinstance(value, np.ndarray) else value for key, value in fields.items()}


def _print_frequencies(found: FrequencyEstimate, confidence: float) -> None:
    names = found.labels or [f"{point:.10g}" for point in found.points.tolist()]
    columns = zip(names, found.estimates, found.lower, found.upper, strict=True)
    rows = [[name, *map(output.number, numbers)] for name, *numbers in columns]
    title = f"Frequencies, each with confidence {confidence:g}, from {found.count:,} reports"
    output.print_table(title, ["value", "estimate", "lower", "upper"], rows)
