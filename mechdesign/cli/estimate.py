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

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from mechdesign.cli import devices, estimate_counts, output
from mechdesign.cli.apply import counting_rows
from mechdesign.cli.estimated import CODES_LOOK_LIKE_LABELS, Estimated, OfReports
from mechdesign.cli.given import refuse_given
from mechdesign.cli.options import Engines
from mechdesign.cli.sent import Said
from mechdesign.cli.signatures import Part
from mechdesign.engine import Local
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.frequencies.em_histogram import BinShares, estimate_bins
from mechdesign.studies.frequencies.survey import Survey, is_survey
from mechdesign.tables.device.description import Device
from mechdesign.tables.estimators import (
    DirectionEstimate,
    Estimate,
    FrequencyEstimate,
    MeanEstimate,
    WorkloadEstimate,
)
from mechdesign.tables.frames import estimate_reports
from mechdesign.tables.origin import Origin
from mechdesign.tables.reports.collector import COLUMN, taken_in
from mechdesign.tables.reports.envelope import is_envelopes
from mechdesign.tables.table import Table, table_of
from mechdesign.values import files
from mechdesign.values.declare import Floats, frozen


@frozen
class Of:
    """The table that the reports were drawn from, how many no honest client sends (they are left out), and the device
    that drew them, with at least so many people."""

    sha256: str
    unlikely: int
    device: devices.Reported | None = output.if_shown()
    people: int | None = output.if_shown()


@frozen
class OfMean:
    """What the interval used: a standard deviation, and bias; of a direction, how much inputs agree."""

    deviation: float
    bias: float | None = output.if_shown()
    resultant: float | None = output.if_shown()


@frozen
class Value:
    """The share of one value."""

    item: str
    estimate: float
    lower: float
    upper: float
    standard_error: float


@frozen
class Quantile:
    """The first type up to which there is such a share, and the first and the last that it can be."""

    share: float
    type: int
    lower: int
    upper: int


@frozen
class Frequencies:
    """The shares of all values, as columns and as rows."""

    points: Floats
    estimates: Floats
    lower: Floats
    upper: Floats
    covariance: Floats | None
    labels: tuple[str, ...] | None
    items: tuple[Value, ...]


@frozen
class Distribution:
    """The monotone distribution function, the band that holds all of it, and quantiles with their intervals."""

    monotone: Floats
    band_lower: Floats
    band_upper: Floats
    quantiles: tuple[Quantile, ...]


@frozen
class Answers:
    """The queries of the table's workload, and their covariance."""

    queries: tuple[Value, ...]
    covariance: Floats
    bias: float
    distribution: Distribution | None = output.if_shown()


ANSWERS = (
    (Of, OfReports, Estimated, OfMean),
    (Of, OfReports, Frequencies),
    (Of, OfReports, Answers),
    (Of, BinShares),
    (estimate_counts.Answer,),
)
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_OF_ENGINES = ("workers", "engine", "scheduler")
_WITH_INTERVALS = ("confidence", "frequencies", "codes", *_OF_ENGINES, "of_device", "again", "periods")
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv
estimate smokes.json --in told.csv --column smokes"""


def run(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The table the reports were drawn from, or a survey.", metavar="TABLE")],
    source: Annotated[
        Path,
        typer.Option(
            "--in", help="The reports: .csv with a header, .parquet, a folder, a pattern, or envelopes.", metavar="DATA"
        ),
    ],
    engines: Annotated[Engines, Part(workers="Processes, for a huge .parquet file.")],
    sent: Said,
    column: Annotated[
        str | None, typer.Option("--column", help="Their column (if the file does not say).", metavar="NAME")
    ] = None,
    confidence: Annotated[float, typer.Option("--confidence", help="Of the intervals, between 0 and 1.")] = 0.95,
    frequencies: Annotated[bool, typer.Option("--frequencies", help="Of the points of a finite domain.")] = False,
    bins: Annotated[
        int | None, typer.Option("--bins", help="Shares of so many equal bins of numbers, by EM: no intervals.")
    ] = None,
    smooth: Annotated[bool, typer.Option("--smooth", help="With --bins: EM with smoothing.")] = False,
    skip_empty: Annotated[
        bool, typer.Option("--skip-empty", help="Leave out empty reports: the answer is about the others.")
    ] = False,
    codes: Annotated[
        bool, typer.Option("--codes", help="The reports are the numbers of the outputs, not their labels.")
    ] = False,
    of_device: Annotated[
        Path | None,
        typer.Option("--device", help="The device file, where a device made the reports of TABLE.", metavar="FILE"),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option("--again", help="With --device: the table that it draws from in every report.", metavar="FILE"),
    ] = None,
    periods: Annotated[
        int | None,
        typer.Option("--periods", help="With --device: of how many periods the reports are.", metavar="N"),
    ] = None,
) -> None:
    where = engines.engine()
    content = files.read_bytes(file)
    if is_survey(content):
        rule, step = "be left out: a survey says all but --in", "estimate-counts has --method, --for and --pairs"
        refuse_given(context, (*_WITH_INTERVALS, "column", "bins", "smooth", "skip_empty"), rule, step)
        estimate_counts.estimate([source], [Survey.of_content(content, str(file))], sent)
        return
    if bins is not None:
        step = "bins have no intervals, and one process counts them"
        refuse_given(context, _WITH_INTERVALS, "be left out with --bins", step)
    elif smooth:
        raise InvalidInput("smooth", smooth, "come with --bins", "for example --bins 20 --smooth")
    asked = table_of(content, file)
    device = devices.reporting(asked, of_device, again, periods)
    origin = Origin(asked) if device is None or periods is None else device.origin(periods)
    table = origin.table
    with (
        _opened(context, source, device or asked) as (data, name),
        counting_rows(f"counting {source.name}", quiet=sent.quiet) as progress,
    ):
        found: Estimate | BinShares
        if bins is not None:
            found = estimate_bins(
                asked, data, bins, name or column, smooth=smooth, progress=progress, skip_empty=skip_empty
            )
        else:
            found = estimate_reports(
                origin,
                data,
                name or column,
                confidence,
                of="frequencies" if frequencies else None,
                progress=progress,
                engine=None if where == Local(1) else where,
                codes=codes,
                skip_empty=skip_empty,
            )
    if isinstance(found, BinShares):
        if sent.as_json:
            output.print_json(Of(asked.sha256, 0), found)
        else:
            _print_bins(found)
        return
    if table.output_names is not None and table.output_names.look_like_codes:
        output.warn(f"read as {'codes' if codes else 'labels'}: {CODES_LOOK_LIKE_LABELS}")
    if found.unlikely:
        output.warn(f"{found.unlikely:,} reports left out: an honest client sends such with a chance below 2^-64")
    said = None if device is None or periods is None else devices.reported(device, periods)
    if sent.as_json:
        _print_json(Of(asked.sha256, found.unlikely, said, found.people), found)
        return
    if isinstance(found, FrequencyEstimate):
        _print_frequencies(found, confidence)
    elif isinstance(found, WorkloadEstimate):
        _print_answers(found)
    else:
        what = "direction" if isinstance(found, DirectionEstimate) else "mean"
        output.console.print(
            f"{what}: {output.number(found.estimate)} in "
            f"[{output.number(found.lower)}, {output.number(found.upper)}] "
            f"with confidence {confidence:g}, {devices.from_reports(found.count, found.people)}",
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
    if said is not None:
        devices.show_reported(said)


@contextlib.contextmanager
def _opened(context: typer.Context, source: Path, known: Table | Device) -> Iterator[tuple[Path, str | None]]:
    """The reports, and their column if it is known: those of envelopes are taken out of them."""
    if not is_envelopes(source):
        yield source, None
        return
    refuse_given(context, ("column", "codes", "skip_empty"), "be left out: these are envelopes", "they say it")
    with taken_in(source, known) as (batch, intake):
        if any(intake.refused.values()):
            reasons = ", ".join(f"{times:,} {reason}" for reason, times in intake.refused.items() if times)
            output.warn(f"envelopes refused: {reasons}; collect-reports remembers them over files and days")
        if batch is None:
            rule = "hold an envelope that counts: of this table, in time, and whole"
            raise FileProblem("envelopes", str(source), rule, "take collect-reports for those of a collection")
        yield batch.file, COLUMN


def _print_bins(found: BinShares) -> None:
    rows = [
        [f"{low:.6g}", f"{high:.6g}", output.number(share)]
        for low, high, share in zip(found.edges[:-1], found.edges[1:], found.shares, strict=True)
    ]
    title = f"Shares of {found.shares.size} bins, from {found.count:,} reports"
    output.print_table(title, ["from", "to", "share"], rows)
    how = "EM with smoothing" if found.smooth else "EM"
    output.console.print(f"\nby {how}: no interval is known, a bias remains; without --bins the mean has an interval")


def _print_json(whose: Of, found: Estimate) -> None:
    of = whose, OfReports(found.confidence, found.count)
    if isinstance(found, FrequencyEstimate):
        shares = found.points, found.estimates, found.lower, found.upper, found.covariance
        output.print_json(*of, Frequencies(*shares, found.labels, values(found)))
        return
    if isinstance(found, WorkloadEstimate):
        output.print_json(*of, answers(found))
        return
    estimated = Estimated(found.estimate, found.lower, found.upper, found.deviation)
    output.print_json(*of, estimated, _of_mean(found))


def _of_mean(found: MeanEstimate | DirectionEstimate) -> OfMean:
    if isinstance(found, MeanEstimate):
        return OfMean(found.deviation, bias=found.bias)
    return OfMean(found.deviation, resultant=found.resultant)


def answers(found: WorkloadEstimate) -> Answers:
    """What the answer says of a workload: every query, and the distribution where they are one."""
    queries = values(found)
    if found.monotone is None or found.band is None:
        return Answers(queries, found.covariance, found.bias)
    quantiles = tuple(Quantile(share, *found.quantile(share)) for share in _QUANTILES)
    return Answers(queries, found.covariance, found.bias, Distribution(found.monotone, *found.band, quantiles))


def values(found: FrequencyEstimate | WorkloadEstimate) -> tuple[Value, ...]:
    """A row for every share or query."""
    if isinstance(found, FrequencyEstimate):
        names, errors = _names(found), found.standard_errors
    else:
        names, errors = list(found.names), np.sqrt(np.maximum(np.diagonal(found.covariance), 0.0))
    columns = [column.tolist() for column in (found.estimates, found.lower, found.upper, errors)]
    return tuple(Value(name, *numbers) for name, *numbers in zip(names, *columns, strict=True))


def _print_answers(found: WorkloadEstimate) -> None:
    columns = [found.estimates, found.lower, found.upper]
    headings = ["query", "estimate", "lower", "upper"]
    if found.monotone is not None and found.band is not None:
        columns += [found.monotone, *found.band]
        headings += ["monotone", "band from", "to"]
    rows = [[name, *map(output.number, own)] for name, *own in zip(found.names, *columns, strict=True)]
    title = f"Answers, each with confidence {found.confidence:g}, {devices.from_reports(found.count, found.people)}"
    output.print_table(title, headings, rows)
    if found.monotone is not None:
        said = [(share, *found.quantile(share)) for share in _QUANTILES]
        lines = [[f"{share:g}", str(at), f"{low} to {high}"] for share, at, low, high in said]
        output.console.print(f"\nthe band holds the whole distribution function with confidence {found.confidence:g}")
        output.print_table("Quantiles, read off it", ["share", "type", "interval"], lines)


def _names(found: FrequencyEstimate) -> list[str]:
    return list(found.labels or [f"{point:.10g}" for point in found.points.tolist()])


def _print_frequencies(found: FrequencyEstimate, confidence: float) -> None:
    columns = zip(_names(found), found.estimates, found.lower, found.upper, strict=True)
    rows = [[name, *map(output.number, numbers)] for name, *numbers in columns]
    title = f"Frequencies, each with confidence {confidence:g}, {devices.from_reports(found.count, found.people)}"
    output.print_table(title, ["value", "estimate", "lower", "upper"], rows)
