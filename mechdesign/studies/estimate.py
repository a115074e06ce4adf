"""What a file of reports says: the mean, frequencies or direction of the data, each with a confidence interval."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from mechdesign.data.sources import Progress
from mechdesign.engine import Engine, Local
from mechdesign.errors import FileProblem, InvalidInput
from mechdesign.studies.counts import Counts, CountsOfSurvey, count_reports
from mechdesign.studies.device_reports import DeviceReports, from_reports, require_periods
from mechdesign.studies.frequencies.em_histogram import BinShares, estimate_bins
from mechdesign.studies.frequencies.survey import Survey, is_survey
from mechdesign.tables.device.description import Device, load_device
from mechdesign.tables.estimators import (
    DirectionEstimate,
    Estimate,
    FrequencyEstimate,
    MeanEstimate,
    WorkloadEstimate,
)
from mechdesign.tables.frames import estimate_reports
from mechdesign.tables.labels import CODES_LOOK_LIKE_LABELS
from mechdesign.tables.origin import Origin
from mechdesign.tables.reports.collector import COLUMN, taken_in
from mechdesign.tables.reports.envelope import is_envelopes
from mechdesign.tables.table import Table, load_table, table_of
from mechdesign.values import files
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.declare import Floats, asked, field, frozen, needed, option
from mechdesign.values.rules import comes_with, left_out_with, options_said, require_rules
from mechdesign.values.tables import Grid, number, printable

_CONFIDENCE = 0.95
_QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
_OF_INTERVALS = ("confidence", "frequencies", "codes", "device", "again", "periods")
_DEVICE = "name the device file: --device device.json"
_RULES = (
    left_out_with("bins", *_OF_INTERVALS, why="bins have no intervals, and one process counts them"),
    comes_with("smooth", bins=(), step="for example --bins 20 --smooth"),
    comes_with("again", "periods", device=(), step=_DEVICE),
)


@frozen
class EstimateStudy:
    """The reports of a table, or of a survey, in a file, a folder or a pattern, or envelopes."""

    file: Path = needed("TABLE", "The table the reports were drawn from, or a survey.", read=Path, metavar="TABLE")
    source: Path = needed(
        "--in",
        "The reports: .csv with a header, .parquet, a folder, a pattern, or envelopes.",
        read=Path,
        metavar="DATA",
    )
    column: str | None = asked("--column", "Their column (if the file does not say).", metavar="NAME")
    confidence: float | None = asked("--confidence", f"Of the intervals, between 0 and 1 [{_CONFIDENCE}].")
    frequencies: bool = field(default=False, metadata=option("--frequencies", "Of the points of a finite domain."))
    bins: int | None = asked("--bins", "Shares of so many equal bins of numbers, by EM: no intervals.")
    smooth: bool = field(default=False, metadata=option("--smooth", "With --bins: EM with smoothing."))
    skip_empty: bool = field(
        default=False,
        metadata=option("--skip-empty", "Leave out empty reports: the answer is about the others."),
    )
    codes: bool = field(
        default=False, metadata=option("--codes", "The reports are the numbers of the outputs, not their labels.")
    )
    device: Path | None = asked(
        "--device", "The device file, where a device made the reports of TABLE.", read=Path, metavar="FILE"
    )
    again: Path | None = asked(
        "--again", "With --device: the table that it draws from in every report.", read=Path, metavar="FILE"
    )
    periods: int | None = asked("--periods", "With --device: of how many periods the reports are.", metavar="N")
    engine: Engine = Local(1)

    keeps: ClassVar[tuple[Path, ...]] = ()

    def __attrs_post_init__(self) -> None:
        require_rules(self, _RULES)
        if self.bins is not None and self.engine != Local(1):
            raise InvalidInput("options", "--workers, --engine", "be left out with --bins", "one process counts bins")
        if self.device is not None:
            require_periods(self.periods)

    @property
    def doing(self) -> str:
        return f"counting {printable(self.source.name)}"

    @property
    def reads(self) -> Sequence[Path]:
        return [path for path in (self.file, self.source, self.device, self.again) if path is not None]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> EstimateAnswer | CountsOfSurvey:
        """The estimate, and of a survey the counts of its items."""
        content = files.read_bytes(self.file)
        if is_survey(content):
            return self._of_survey(Survey.of_content(content, str(self.file)), warn)
        asked = table_of(content, self.file)
        device = self._device(asked)
        origin = Origin(asked) if device is None or self.periods is None else device.origin(self.periods)

        def progress(rows: int, in_all: int) -> None:
            say(f"{self.doing}: {rows:,} of {in_all:,} rows")

        with self._opened(device or asked, warn) as (data, column):
            found = self._found(asked, origin, data, column, progress)
        if isinstance(found, BinShares):
            return EstimateAnswer(Of(asked.sha256, 0), found)
        names = origin.table.output_names
        if names is not None and names.look_like_codes:
            warn(f"read as {'codes' if self.codes else 'labels'}: {CODES_LOOK_LIKE_LABELS}")
        if found.unlikely:
            warn(f"{found.unlikely:,} reports left out: an honest client sends such with a chance below 2^-64")
        said = None if device is None or self.periods is None else DeviceReports.of(device, self.periods)
        if said is not None and said.warning is not None:
            warn(said.warning)
        return EstimateAnswer(Of(asked.sha256, found.unlikely, said, found.people), found)

    def _found(
        self, asked: Table, origin: Origin, data: Path, column: str | None, progress: Progress
    ) -> Estimate | BinShares:
        name, skip = column or self.column, self.skip_empty
        if self.bins is not None:
            return estimate_bins(asked, data, self.bins, name, smooth=self.smooth, progress=progress, skip_empty=skip)
        return estimate_reports(
            origin,
            data,
            name,
            _CONFIDENCE if self.confidence is None else self.confidence,
            of="frequencies" if self.frequencies else None,
            progress=progress,
            engine=None if self.engine == Local(1) else self.engine,
            codes=self.codes,
            skip_empty=skip,
        )

    def _of_survey(self, survey: Survey, warn: Say) -> CountsOfSurvey:
        others = (*_OF_INTERVALS, "column", "bins", "smooth", "skip_empty")
        step = "estimate-counts has --method, --for and --pairs"
        self._require_left_out(others, "be left out: a survey says all but --in", step)
        return count_reports([self.source], [survey], warn)

    def _require_left_out(self, fields: Sequence[str], rule: str, step: str) -> None:
        wrong = options_said(self, fields)
        if wrong:
            raise InvalidInput("options", ", ".join(wrong), rule, step)

    def _device(self, table: Table) -> Device | None:
        """The device whose reports are estimated, if one is named: ``table`` is its first one."""
        if self.device is None:
            return None
        return load_device(self.device, table, None if self.again is None else load_table(self.again))

    @contextlib.contextmanager
    def _opened(self, known: Table | Device, warn: Say) -> Iterator[tuple[Path, str | None]]:
        """The reports, and their column if it is known: those of envelopes are taken out of them."""
        if not is_envelopes(self.source):
            yield self.source, None
            return
        taken = ("column", "codes", "skip_empty")
        self._require_left_out(taken, "be left out: these are envelopes", "they say it")
        with taken_in(self.source, known) as (batch, intake):
            if any(intake.refused.values()):
                reasons = ", ".join(f"{times:,} {reason}" for reason, times in intake.refused.items() if times)
                warn(f"envelopes refused: {reasons}; collect-reports remembers them over files and days")
            if batch is None:
                rule = "hold an envelope that counts: of this table, in time, and whole"
                raise FileProblem("envelopes", str(self.source), rule, "take collect-reports for those of a collection")
            yield batch.file, COLUMN


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Estimated:
    """An estimate, its interval and its standard error, which are null where nobody knows them."""

    estimate: float
    lower: float | None
    upper: float | None
    standard_error: float | None


@frozen
class OfReports:
    """How sure the interval is, and how many reports it rests on."""

    confidence: float
    count: int


@frozen
class Of:
    """The table that the reports were drawn from, how many no honest client sends (they are left out), and the device
    that drew them, with at least so many people."""

    sha256: str
    unlikely: int
    device: DeviceReports | None = if_shown()
    people: int | None = if_shown()


@frozen
class OfMean:
    """What the interval used: a standard deviation, and bias; of a direction, how much inputs agree."""

    deviation: float
    bias: float | None = if_shown()
    resultant: float | None = if_shown()


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
    distribution: Distribution | None = if_shown()


@frozen
class EstimateAnswer(Answer):
    """An estimate, and what it is of."""

    of: Of
    estimate: Any

    @property
    def said(self) -> tuple[Any, ...]:
        found = self.estimate
        if isinstance(found, BinShares):
            return self.of, found
        whose = self.of, OfReports(found.confidence, found.count)
        if isinstance(found, FrequencyEstimate):
            shares = found.points, found.estimates, found.lower, found.upper, found.covariance
            return *whose, Frequencies(*shares, found.labels, values(found))
        if isinstance(found, WorkloadEstimate):
            return *whose, _queries(found)
        return *whose, Estimated(found.estimate, found.lower, found.upper, found.deviation), _of_mean(found)

    @property
    def rows(self) -> Sequence[Any]:
        found = self.estimate
        if isinstance(found, BinShares):
            ends = zip(found.edges.tolist(), found.edges.tolist()[1:], found.shares.tolist(), strict=False)
            return [{"from": low, "to": high, "share": share} for low, high, share in ends]
        if isinstance(found, FrequencyEstimate | WorkloadEstimate):
            return values(found)
        return self.said[2:3]

    def shown(self) -> Iterator[Grid | str]:
        found = self.estimate
        if isinstance(found, BinShares):
            yield from _bins(found)
        elif isinstance(found, FrequencyEstimate | WorkloadEstimate):
            yield from _shares(found) if isinstance(found, FrequencyEstimate) else _answers(found)
        else:
            yield from _mean(found)
        if self.of.device is not None:
            yield self.of.device.words


def _mean(found: MeanEstimate | DirectionEstimate) -> Iterator[str]:
    what = "direction" if isinstance(found, DirectionEstimate) else "mean"
    yield (
        f"{what}: {number(found.estimate)} in [{number(found.lower)}, {number(found.upper)}] with confidence "
        f"{found.confidence:g}, {from_reports(found.count, found.people)}"
    )
    half = (found.upper - found.lower) / 2
    if isinstance(found, MeanEstimate) and found.bias > half / 2:
        yield (
            f"  of the half-width {number(half)}, {number(found.bias)} is the table's bias bound, "
            "which more reports do not narrow;\n"
            "  an unbiased table (minimax --unbiased, or --mechanism pm) has none"
        )


def _shares(found: FrequencyEstimate) -> Iterator[Grid]:
    rows = tuple((one.item, *map(number, (one.estimate, one.lower, one.upper))) for one in values(found))
    title = f"Frequencies, each with confidence {found.confidence:g}, {from_reports(found.count, found.people)}"
    yield Grid(title, ("value", "estimate", "lower", "upper"), rows)


def _answers(found: WorkloadEstimate) -> Iterator[Grid | str]:
    columns = [found.estimates, found.lower, found.upper]
    headings = ["query", "estimate", "lower", "upper"]
    if found.monotone is not None and found.band is not None:
        columns += [found.monotone, *found.band]
        headings += ["monotone", "band from", "to"]
    rows = tuple((name, *map(number, own)) for name, *own in zip(found.names, *columns, strict=True))
    title = f"Answers, each with confidence {found.confidence:g}, {from_reports(found.count, found.people)}"
    yield Grid(title, tuple(headings), rows)
    if found.monotone is not None:
        said = [(share, *found.quantile(share)) for share in _QUANTILES]
        lines = tuple((f"{share:g}", str(at), f"{low} to {high}") for share, at, low, high in said)
        yield f"\nthe band holds the whole distribution function with confidence {found.confidence:g}"
        yield Grid("Quantiles, read off it", ("share", "type", "interval"), lines)


def _bins(found: BinShares) -> Iterator[Grid | str]:
    ends = zip(found.edges[:-1], found.edges[1:], found.shares, strict=True)
    rows = tuple((f"{low:.6g}", f"{high:.6g}", number(share)) for low, high, share in ends)
    yield Grid(f"Shares of {found.shares.size} bins, from {found.count:,} reports", ("from", "to", "share"), rows)
    how = "EM with smoothing" if found.smooth else "EM"
    yield f"\nby {how}: no interval is known, a bias remains; without --bins the mean has an interval"


def _of_mean(found: MeanEstimate | DirectionEstimate) -> OfMean:
    if isinstance(found, MeanEstimate):
        return OfMean(found.deviation, bias=found.bias)
    return OfMean(found.deviation, resultant=found.resultant)


def _queries(found: WorkloadEstimate) -> Answers:
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


def _names(found: FrequencyEstimate) -> list[str]:
    return list(found.labels or [f"{point:.10g}" for point in found.points.tolist()])


ANSWERS = (
    (Of, OfReports, Estimated, OfMean),
    (Of, OfReports, Frequencies),
    (Of, OfReports, Answers),
    (Of, BinShares),
    (Counts,),
)
