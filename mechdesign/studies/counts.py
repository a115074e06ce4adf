"""Frequencies and counts of items from real reports in files, with standard errors and 95% intervals."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar

from mechdesign.data.texts import paths
from mechdesign.errors import InvalidInput
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.frequencies import estimators
from mechdesign.studies.frequencies.clients import CLIENTS, OWN
from mechdesign.studies.frequencies.datasets import parse_domain_labels
from mechdesign.studies.frequencies.fit import DOUBTFUL, REFUSED, Fit, Statistic
from mechdesign.studies.frequencies.intervals import POPULATION, SHARES
from mechdesign.studies.frequencies.protocols.catalogue import PROTOCOLS
from mechdesign.studies.frequencies.ranking import IBU
from mechdesign.studies.frequencies.reports import ORDERS
from mechdesign.studies.frequencies.survey import Survey
from mechdesign.studies.frequencies.survey_shares import SURVEY_METHODS, SurveyShares, estimate_surveys
from mechdesign.values.answers import Answer, Say, if_shown, silent
from mechdesign.values.codec import left_out, named
from mechdesign.values.declare import asked, field, frozen, needed
from mechdesign.values.rules import options_said
from mechdesign.values.tables import Column, Grid, number, table_of

FORMS = (".csv", ".json")
_MOST_SHOWN = 20
_OF = {"population": "the population the users were drawn from", "users": "these users"}
_PARAMETERS = ("limit", "g", "subset", "threshold")
_OF_SURVEY = ("protocol", "eps", "domain", "client", "p", "q", *_PARAMETERS)


def _method(said: str) -> str:
    return said.strip().lower().replace("_", "-")


@frozen
class CountStudy:
    """Reports in files, and what the clients ran: the options say it, or a survey for each file."""

    files: tuple[Path, ...] = needed(
        "FILE",
        "Reports, one a row (CSV, Parquet), or the client's array (.npy); a file a group.",
        read=paths,
        metavar="FILE...",
    )
    protocol: str | None = asked(
        "--protocol",
        "What the clients ran, such as grr or olh.",
        "-p",
        words=lambda: [line.key for line in PROTOCOLS],
    )
    eps: float | None = asked("--eps", "The epsilon the clients ran it with.", "-e")
    domain: str | None = asked("--domain", "All items in the clients' order: A,B,C or LO..HI.")
    surveys: tuple[Path, ...] | None = asked(
        "--survey",
        "What the clients ran, as `protocols --out` wrote it: instead of the options; one a file.",
        read=paths,
    )
    client: str | None = asked(
        "--client", f"Whose clients made the reports: {', '.join(CLIENTS)} ({OWN}).", words=lambda: CLIENTS
    )
    limit: float | None = asked(
        "--limit", "Loss of users who never change, in all; L-OUE and L-SOUE cannot be read without it."
    )
    g: int | None = asked("--g", "Hash values, if the clients of (l-)olh set them.")
    subset: int | None = asked("--subset", "Items in a set, if the clients of ss set it.")
    threshold: float | None = asked("--threshold", "Threshold, if the clients of the set it.")
    p: float | None = asked("--p", "Chance of supporting the own item, if the clients had another.")
    q: float | None = asked("--q", "That of any other item, where --p does not settle it.")
    pairs: str | None = asked(
        "--pairs", f"Order of pairs, where numbers do not tell: {' or '.join(ORDERS)}.", words=lambda: ORDERS
    )
    share: str = asked(
        "--for", f"Whose share the interval is for: {' or '.join(SHARES)}.", default=POPULATION, words=tuple(SHARES)
    )
    method: str = asked(
        "--method",
        f"One of {', '.join(SURVEY_METHODS)}.",
        "-m",
        default="norm-sub",
        read=_method,
        words=lambda: SURVEY_METHODS,
    )

    doing: ClassVar[str] = "counting reports"
    keeps: ClassVar[tuple[Path, ...]] = ()

    @property
    def reads(self) -> Sequence[Path]:
        return [*self.files, *(self.surveys or ())]

    def answer(self, say: Say = silent, warn: Say = warnings.warn) -> CountsOfSurvey:
        """All items, from the reports of all files."""
        return count_reports(self.files, self._asked(), warn, self.method, self.share, self.pairs)

    def _asked(self) -> list[Survey]:
        """The survey of each file: never with options."""
        if not self.surveys and len(self.files) == 1:
            return [self._survey()]
        given = options_said(self, _OF_SURVEY)
        if given and len(self.files) > 1:
            rule, step = "be left out: the surveys say it", "give --survey for each file"
            raise InvalidInput(given[0].strip("-"), "several files", rule, step)
        if given:
            rule, step = "be left out: the survey says it", "or leave out --survey"
            raise InvalidInput(given[0].strip("-"), "--survey too", rule, step)
        surveys = self.surveys or ()
        if len(surveys) != len(self.files):
            rule = "be one for each file of reports, in the order of the files"
            step = "`protocols --out` writes them"
            raise InvalidInput("survey", f"{len(surveys)} for {len(self.files)} files", rule, step)
        return [Survey.read(path) for path in surveys]

    def _survey(self) -> Survey:
        """That of the options."""
        for name, example in (("protocol", "olh"), ("eps", "1"), ("domain", "a,b,c")):
            if getattr(self, name) is None:
                tip = f"for example --{name} {example}, or --survey with the file of the survey"
                raise InvalidInput(name, None, "be given", tip)
        assert self.protocol is not None
        assert self.eps is not None
        assert self.domain is not None
        items = parse_domain_labels(self.domain)
        options = {name: value for name in _PARAMETERS if (value := getattr(self, name)) is not None}
        return Survey(self.protocol, self.eps, items, self.client or OWN, options, self.p, self.q)


def count_reports(
    files: Sequence[Path],
    surveys: Sequence[Survey],
    warn: Say,
    method: str = "norm-sub",
    share: str = POPULATION,
    order: str | None = None,
) -> CountsOfSurvey:
    """The answer from files of reports, a survey each."""
    found = estimate_surveys(list(zip(files, surveys, strict=True)), method, share, order=order)
    for fit in found.fits:
        if fit.chance < DOUBTFUL:
            worst = f"{fit.worst.name} {fit.worst.found:.4g}, not {fit.worst.expected:.4g}"
            off = f"{fit.deviations:.1f} deviations off, chance at most {fit.chance:.1g}"
            warn(f"doubtful reports: {worst}: {off}")
    if found.gap is not None and found.gap > estimators.TOLERANCE:
        steps = f"{estimators.MOST_STEPS:,} steps"
        warn(f"ibu stopped after {steps}: its log-likelihood is within {found.gap:.2g} of the best")
    return CountsOfSurvey(_counts(found, surveys, method), found, tuple(surveys), tuple(one.name for one in files))


# -- answers ----------------------------------------------------------------------------------------------------------


@frozen
class Group:
    """What was counted, and how."""

    protocol: str
    eps: float
    items: int
    reports: int
    method: str
    p: float
    q: float
    client: str
    limit: float | None = if_shown()
    g: float | None = if_shown()
    subset: float | None = if_shown()
    threshold: float | None = if_shown()


@frozen
class Fitting:
    """How well the reports fit what they are said to be."""

    deviations: float
    chance: float
    statistics: tuple[Statistic, ...]


@frozen
class Item:
    """One item: the estimate asked for, the unbiased one, and the interval around it, as all estimates have it too."""

    item: str
    frequency: float
    count: float
    unbiased: float
    interval: tuple[float, float]
    estimate: float
    lower: float
    upper: float
    standard_error: float


@frozen
class Counts:
    """All items, and whose shares the intervals are for."""

    problem: Group
    confidence: float
    whose: str = field(metadata=named("for"))
    interval_method: str
    fit: Fitting
    items: tuple[Item, ...]


@frozen
class Groups:
    """What each group of users was asked, and what was made of all their reports."""

    items: int
    reports: int
    method: str
    groups: tuple[Group, ...]


@frozen
class CountsOfGroups:
    """All items, from the reports of all groups."""

    problem: Groups
    confidence: float
    whose: str = field(metadata=named("for"))
    interval_method: str
    fits: tuple[Fitting, ...]
    items: tuple[Item, ...]
    gap: float | None = if_shown()


@frozen
class CountsOfSurvey(Answer):
    """Shares and counts of items, and how well the reports fit what they are said to be."""

    counts: Counts | CountsOfGroups
    found: SurveyShares = field(metadata=left_out())
    surveys: tuple[Survey, ...] = field(metadata=left_out())
    names: tuple[str, ...] = field(metadata=left_out())

    @property
    def said(self) -> tuple[Any, ...]:
        return (self.counts,)

    @property
    def rows(self) -> Sequence[Item]:
        return self.counts.items

    def csv(self) -> str:
        """A row for every item."""
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["item", "frequency", "count", "unbiased", "standard_error", "low", "high", "for"])
        for row in self.rows:
            said = row.item, row.frequency, row.count, row.unbiased, row.standard_error
            writer.writerow([*said, row.lower, row.upper, self.counts.whose])
        return text.getvalue()

    def shown(self) -> Iterator[Grid | str]:
        found, method = self.found, self.counts.problem.method
        if len(self.surveys) > 1:
            for name, one, heard in zip(self.names, self.surveys, found.groups, strict=True):
                yield f"{name}: {_about(one)}, {heard.n:,} reports"
        of = _about(self.surveys[0]) if len(self.surveys) == 1 else f"{len(self.surveys)} groups"
        ordered = sorted(self.rows, key=lambda row: -row.frequency)
        yield table_of(f"{of}, {found.n:,} reports, {method}", _COLUMNS, ordered[:_MOST_SHOWN])
        if len(ordered) > _MOST_SHOWN:
            yield f"  and {len(ordered) - _MOST_SHOWN} more; --out saves all items"
        about = "normal, about the unbiased estimate" if found.around.method == "normal" else found.around.method
        yield f"  Intervals: for shares of {_OF[found.around.of]}; {about}."
        yield f"  Fit: {_said(min(found.fits, key=lambda fit: fit.chance))}."
        if len(self.surveys) > 1 and method == IBU:
            yield "  ibu takes all users for samples of one population; the unbiased estimates and intervals do not."


_COLUMNS = (
    Column("item", lambda row: row.item),
    Column("frequency", lambda row: number(row.frequency)),
    Column("count", lambda row: f"{row.count:.0f}"),
    Column("unbiased", lambda row: number(row.unbiased)),
    Column("standard error", lambda row: number(row.standard_error)),
    Column("95% interval", lambda row: f"[{number(row.lower)}, {number(row.upper)}]"),
)


def _rows(found: SurveyShares) -> tuple[Item, ...]:
    around = found.around
    columns = (found.estimate, found.unbiased, around.lower, around.upper, around.errors)
    return tuple(
        Item(label, share, share * found.n, unbiased, (low, high), share, low, high, error)
        for label, share, unbiased, low, high, error in zip(found.items, *(c.tolist() for c in columns), strict=True)
    )


def _counts(found: SurveyShares, surveys: Sequence[Survey], method: str) -> Counts | CountsOfGroups:
    rows = _rows(found)
    each = tuple(_group(one, of.n, method) for one, of in zip(surveys, found.groups, strict=True))
    fits = tuple(Fitting(fit.deviations, fit.chance, fit.statistics) for fit in found.fits)
    about = CONFIDENCE, found.around.of, found.around.method
    if len(each) == 1:
        return Counts(each[0], *about, fits[0], rows)
    return CountsOfGroups(Groups(len(found.items), found.n, method, each), *about, fits, rows, found.gap)


def _about(asked: Survey) -> str:
    law, told = asked.law, "".join(f", {option} = {value:g}" for option, value in asked.options.items())
    made = "" if asked.client == OWN else f", clients of {asked.client}"
    return f"{law.name}, eps = {law.epsilon:g}{told}, p* = {law.p:.5g}, q* = {law.q:.5g}{made}"


def _group(asked: Survey, n: int, method: str) -> Group:
    law = asked.law
    return Group(law.name, law.epsilon, law.size, n, method, law.p, law.q, asked.client, **asked.options)


def _said(fit: Fit) -> str:
    """How well the reports fit, in a line."""
    worst = fit.worst
    if not fit.deviations:
        return "all shares lie between 0 and 1, as they must; nothing else can be tested"
    far = f"{worst.name} {worst.found:.4g}, {worst.expected:.4g} is due: {fit.deviations:.1f} deviations off"
    return f"{far} (the worst of {len(fit.statistics)} tests; refused where chance is below {REFUSED:g})"


ANSWERS = ((Counts,), (CountsOfGroups,))
