"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals.

Reports that do not fit what they are said to be are refused. Users with epsilons or protocols of their own are groups:
a file and a --survey each, in one order. Then ibu is GIBU: the likelihood is the sum over the groups.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from mechdesign.cli import output
from mechdesign.cli.sent import Sent, kept
from mechdesign.errors import InvalidInput, require_one_of
from mechdesign.intervals import CONFIDENCE
from mechdesign.studies.frequencies import bench, estimators
from mechdesign.studies.frequencies.clients import CLIENTS, OWN
from mechdesign.studies.frequencies.datasets import parse_domain_labels
from mechdesign.studies.frequencies.fit import DOUBTFUL, REFUSED, Fit, Statistic
from mechdesign.studies.frequencies.intervals import POPULATION, SHARES
from mechdesign.studies.frequencies.reports import ORDERS
from mechdesign.studies.frequencies.survey import Survey
from mechdesign.studies.frequencies.survey_shares import SURVEY_METHODS, SurveyShares, estimate_surveys
from mechdesign.values.codec import encoded, named
from mechdesign.values.declare import field, frozen
from mechdesign.values.files import dump_json

_MOST_SHOWN = 20
_OF = {"population": "the population the users were drawn from", "users": "these users"}


@frozen
class Asked:
    """What was counted, and how."""

    protocol: str
    eps: float
    items: int
    reports: int
    method: str
    p: float
    q: float
    client: str
    limit: float | None = output.if_shown()
    g: float | None = output.if_shown()
    subset: float | None = output.if_shown()
    threshold: float | None = output.if_shown()


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
class Answer:
    """All items, and whose shares the intervals are for."""

    problem: Asked
    confidence: float
    whose: str = field(metadata=named("for"))
    interval_method: str
    fit: Fitting
    items: tuple[Item, ...]


@frozen
class AskedOfGroups:
    """What each group of users was asked, and what was made of all their reports."""

    items: int
    reports: int
    method: str
    groups: tuple[Asked, ...]


@frozen
class AnswerOfGroups:
    """All items, from the reports of all groups."""

    problem: AskedOfGroups
    confidence: float
    whose: str = field(metadata=named("for"))
    interval_method: str
    fits: tuple[Fitting, ...]
    items: tuple[Item, ...]
    gap: float | None = output.if_shown()


ANSWERS = ((Answer,), (AnswerOfGroups,))
READS_DATA = True
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv
estimate-counts told.csv -p grr --eps 1 --domain no,yes"""


def run(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Reports, one a row (CSV, Parquet), or the client's array (.npy); a file a group.", metavar="FILE..."
        ),
    ],
    sent: Annotated[Sent, kept("Save all items: .csv or .json.")],
    protocol: Annotated[
        str | None, typer.Option("--protocol", "-p", help="What the clients ran, such as grr or olh.")
    ] = None,
    eps: Annotated[float | None, typer.Option("--eps", "-e", help="The epsilon the clients ran it with.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All items in the clients' order: A,B,C or LO..HI.")
    ] = None,
    surveys: Annotated[
        list[Path] | None,
        typer.Option(
            "--survey", help="What the clients ran, as `protocols --out` wrote it: instead of the options; one a file."
        ),
    ] = None,
    client: Annotated[
        str | None, typer.Option("--client", help=f"Whose clients made the reports: {', '.join(CLIENTS)} ({OWN}).")
    ] = None,
    limit: Annotated[
        float | None,
        typer.Option(
            "--limit", help="Loss of users who never change, in all; L-OUE and L-SOUE cannot be read without it."
        ),
    ] = None,
    hashes: Annotated[int | None, typer.Option("--g", help="Hash values, if the clients of (l-)olh set them.")] = None,
    subset: Annotated[int | None, typer.Option("--subset", help="Items in a set, if the clients of ss set it.")] = None,
    threshold: Annotated[
        float | None, typer.Option("--threshold", help="Threshold, if the clients of the set it.")
    ] = None,
    p: Annotated[
        float | None, typer.Option("--p", help="Chance of supporting the own item, if the clients had another.")
    ] = None,
    q: Annotated[
        float | None, typer.Option("--q", help="That of any other item, where --p does not settle it.")
    ] = None,
    pairs: Annotated[
        str | None, typer.Option("--pairs", help=f"Order of pairs, where numbers do not tell: {' or '.join(ORDERS)}.")
    ] = None,
    share: Annotated[
        str, typer.Option("--for", help=f"Whose share the interval is for: {' or '.join(SHARES)}.")
    ] = POPULATION,
    method: Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(SURVEY_METHODS)}.")] = "norm-sub",
) -> None:
    sent.require_writable()
    out = sent.out
    if out is not None and out.suffix.lower() not in (".csv", ".json"):
        raise InvalidInput("output file", str(out), "end in .csv or .json", "for example --out counts.csv")
    output.require_apart([out], [*files, *(surveys or [])])
    name = method.strip().lower().replace("_", "-")
    require_one_of(share, "for", SHARES)
    said = {"protocol": protocol, "eps": eps, "domain": domain, "client": client, "p": p, "q": q}
    options = {"limit": limit, "g": hashes, "subset": subset, "threshold": threshold}
    given = {key: value for key, value in (said | options).items() if value is not None}
    if surveys or len(files) > 1:
        asked = _surveys(files, surveys or [], list(given))
    else:
        asked = [_survey(said, {option: given[option] for option in options if option in given})]
    estimate(files, asked, sent, name, share, pairs)


def estimate(
    files: Sequence[Path],
    surveys: Sequence[Survey],
    sent: Sent,
    method: str = "norm-sub",
    share: str = POPULATION,
    order: str | None = None,
) -> None:
    """The answer from files of reports, a survey each."""
    with output.ending_cleanly(), output.progress("counting reports", quiet=sent.quiet):
        found = estimate_surveys(list(zip(files, surveys, strict=True)), method, share, order=order)
    rows = _rows(found)
    answer = _answer(found, surveys, method, rows)
    for fit in found.fits:
        _warn_of_doubt(fit)
    if found.gap is not None and found.gap > estimators.TOLERANCE:
        output.warn(
            f"ibu stopped after {estimators.MOST_STEPS:,} steps: its log-likelihood is within {found.gap:.2g} of the "
            "best"
        )
    if sent.out is not None:
        is_json = sent.out.suffix.lower() == ".json"
        sent.keep(dump_json(encoded(answer)) if is_json else _csv(rows, found.around.of))
    if sent.as_json:
        output.print_json(answer)
        return
    of = _about(surveys[0]) if len(files) == 1 else f"{len(files)} groups"
    if len(files) > 1:
        for file, one, heard in zip(files, surveys, found.groups, strict=True):
            output.console.print(f"{file.name}: {_about(one)}, {heard.n:,} reports", soft_wrap=True)
    _print(found, rows, f"{of}, {found.n:,} reports, {method}")
    if len(files) > 1 and method == bench.IBU:
        line = "  ibu takes all users for samples of one population; the unbiased estimates and intervals do not."
        output.console.print(line, soft_wrap=True)
    sent.say_saved()


def _rows(found: SurveyShares) -> tuple[Item, ...]:
    around = found.around
    columns = (found.estimate, found.unbiased, around.lower, around.upper, around.errors)
    return tuple(
        Item(label, share, share * found.n, unbiased, (low, high), share, low, high, error)
        for label, share, unbiased, low, high, error in zip(found.items, *(c.tolist() for c in columns), strict=True)
    )


def _answer(
    found: SurveyShares, surveys: Sequence[Survey], method: str, rows: tuple[Item, ...]
) -> Answer | AnswerOfGroups:
    each = tuple(_asked(one, of.n, method) for one, of in zip(surveys, found.groups, strict=True))
    fits = tuple(Fitting(fit.deviations, fit.chance, fit.statistics) for fit in found.fits)
    about = CONFIDENCE, found.around.of, found.around.method
    if len(each) == 1:
        return Answer(each[0], *about, fits[0], rows)
    return AnswerOfGroups(AskedOfGroups(len(found.items), found.n, method, each), *about, fits, rows, found.gap)


def _about(asked: Survey) -> str:
    law, told = asked.law, "".join(f", {option} = {value:g}" for option, value in asked.options.items())
    made = "" if asked.client == OWN else f", clients of {asked.client}"
    return f"{law.name}, eps = {law.epsilon:g}{told}, p* = {law.p:.5g}, q* = {law.q:.5g}{made}"


def _asked(asked: Survey, n: int, method: str) -> Asked:
    law = asked.law
    return Asked(law.name, law.epsilon, law.size, n, method, law.p, law.q, asked.client, **asked.options)


def _warn_of_doubt(fit: Fit) -> None:
    if fit.chance < DOUBTFUL:
        worst = f"{fit.worst.name} {fit.worst.found:.4g}, not {fit.worst.expected:.4g}"
        output.warn(f"doubtful reports: {worst}: {fit.deviations:.1f} deviations off, chance at most {fit.chance:.1g}")


def _surveys(files: Sequence[Path], surveys: Sequence[Path], given: Sequence[str]) -> list[Survey]:
    """The survey of each file: never with options."""
    if given and len(files) > 1:
        raise InvalidInput(given[0], "several files", "be left out: the surveys say it", "give --survey for each file")
    if given:
        raise InvalidInput(given[0], "--survey too", "be left out: the survey says it", "or leave out --survey")
    if len(surveys) != len(files):
        rule = "be one for each file of reports, in the order of the files"
        raise InvalidInput("survey", f"{len(surveys)} for {len(files)} files", rule, "`protocols --out` writes them")
    return [Survey.read(path) for path in surveys]


def _survey(said: dict[str, Any], options: dict[str, Any]) -> Survey:
    """That of the options."""
    for name, example in (("protocol", "olh"), ("eps", "1"), ("domain", "a,b,c")):
        if said[name] is None:
            tip = f"for example --{name} {example}, or --survey with the file of the survey"
            raise InvalidInput(name, None, "be given", tip)
    items = parse_domain_labels(said["domain"])
    chances = said["p"], said["q"]
    return Survey(said["protocol"], said["eps"], items, said["client"] or OWN, options, *chances)


def _csv(rows: Sequence[Item], of: str) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "frequency", "count", "unbiased", "standard_error", "low", "high", "for"])
    for row in rows:
        said = row.item, row.frequency, row.count, row.unbiased, row.standard_error
        writer.writerow([*said, row.lower, row.upper, of])
    return text.getvalue()


def _print(found: SurveyShares, items: Sequence[Item], title: str) -> None:
    ordered = sorted(items, key=lambda row: -row.frequency)
    rows = [
        [
            row.item,
            output.number(row.frequency),
            f"{row.count:.0f}",
            output.number(row.unbiased),
            output.number(row.standard_error),
            f"[{output.number(row.lower)}, {output.number(row.upper)}]",
        ]
        for row in ordered[:_MOST_SHOWN]
    ]
    headings = ["item", "frequency", "count", "unbiased", "standard error", "95% interval"]
    output.print_table(title, headings, rows)
    if len(ordered) > _MOST_SHOWN:
        output.console.print(f"  and {len(ordered) - _MOST_SHOWN} more; --out saves all items", soft_wrap=True)
    about = "normal, about the unbiased estimate" if found.around.method == "normal" else found.around.method
    output.console.print(f"  Intervals: for shares of {_OF[found.around.of]}; {about}.", soft_wrap=True)
    output.console.print(f"  Fit: {_said(min(found.fits, key=lambda fit: fit.chance))}.", soft_wrap=True)


def _said(fit: Fit) -> str:
    """How well the reports fit, in a line."""
    worst = fit.worst
    if not fit.deviations:
        return "all shares lie between 0 and 1, as they must; nothing else can be tested"
    far = f"{worst.name} {worst.found:.4g}, {worst.expected:.4g} is due: {fit.deviations:.1f} deviations off"
    return f"{far} (the worst of {len(fit.statistics)} tests; refused where chance is below {REFUSED:g})"
