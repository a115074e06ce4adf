"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals.

Reports that do not fit what they are said to be are refused. Users with epsilons or protocols of their own are groups:
a file and a --survey each, in one order. Then ibu is GIBU: the likelihood is the sum over the groups.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.estimated import Estimated
from mechdesign.cli.sent import Sent, kept
from mechdesign.collect import bench, estimators, postprocess
from mechdesign.collect.clients import CLIENTS, OWN
from mechdesign.collect.datasets import parse_domain_labels
from mechdesign.collect.fit import DOUBTFUL, REFUSED, Fit, Statistic, require_fit
from mechdesign.collect.intervals import POPULATION, SHARES, Heard, Intervals, intervals_of_groups, share_intervals
from mechdesign.collect.reports import ORDERS
from mechdesign.collect.survey import Survey
from mechdesign.errors import InvalidInput
from mechdesign.intervals import CONFIDENCE
from mechdesign.values.codec import encoded, named
from mechdesign.values.declare import field, frozen
from mechdesign.values.files import dump_json
from mechdesign.values.schema import shaped

_METHODS = bench.METHODS + bench.SLOW_METHODS
_MOST_SHOWN = 20
_OF = {"population": "the population the users were drawn from", "users": "these users"}

Floats = NDArray[np.float64]


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
    """One item: the estimate asked for, the unbiased one, and the interval around it."""

    item: str
    frequency: float
    count: float
    unbiased: float
    interval: tuple[float, float]


@frozen
class Answer:
    """All items, and whose shares the intervals are for."""

    problem: Asked
    confidence: float
    whose: str = field(metadata=named("for"))
    interval_method: str
    fit: Fitting
    items: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(Item, Estimated)})
    )


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
    items: tuple[Mapping[str, Any], ...] = field(
        metadata=shaped(lambda schemas: {"type": "array", "items": schemas.merged(Item, Estimated)})
    )
    gap: float | None = if_shown()


ANSWERS = ((Answer,), (AnswerOfGroups,))
READS_DATA = True
EXAMPLE = """\
examples
table --eps 1 --mechanism grr --labels no,yes --out smokes.json
apply smokes.json --in answers.csv --column smokes --out told.csv
estimate-counts told.csv -p grr --eps 1 --domain no,yes"""


@frozen
class _Found:
    """By item: the estimate asked for, the unbiased one, and what surrounds the latter."""

    labels: tuple[str, ...]
    estimate: Floats
    unbiased: Floats
    around: Intervals
    n: int

    def rows(self) -> list[dict[str, Any]]:
        around = self.around
        columns = (self.estimate, self.unbiased, around.errors, around.lower, around.upper)
        rows = []
        for label, *numbers in zip(self.labels, *(column.tolist() for column in columns), strict=True):
            estimate, unbiased, error, low, high = numbers
            item = Item(label, estimate, estimate * self.n, unbiased, (low, high))
            rows.append(output.merged(item, Estimated(estimate, low, high, error)))
        return rows


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
    method: Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(_METHODS)}.")] = "norm-sub",
) -> None:
    sent.require_writable()
    out = sent.out
    if out is not None and out.suffix.lower() not in (".csv", ".json"):
        raise InvalidInput("output file", str(out), "end in .csv or .json", "for example --out counts.csv")
    output.require_apart([out], [*files, *(surveys or [])])
    name = method.strip().lower().replace("_", "-")
    if name not in _METHODS:
        raise InvalidInput("method", method, f"be one of {', '.join(_METHODS)}")
    if share not in SHARES:
        raise InvalidInput("for", share, f"be {' or '.join(SHARES)}")
    said = {"protocol": protocol, "eps": eps, "domain": domain, "client": client, "p": p, "q": q}
    options = {"limit": limit, "g": hashes, "subset": subset, "threshold": threshold}
    given = {option: value for option, value in options.items() if value is not None}
    if len(files) > 1 or len(surveys or []) > 1:
        groups = _groups(files, surveys or [], [*(key for key, value in said.items() if value is not None), *given])
        _run_groups(list(zip(files, groups, strict=True)), sent, name, share, pairs)
        return
    file, asked = files[0], _survey(surveys[0] if surveys else None, said, given)
    law = asked.law
    if name in (bench.IBU, bench.PUBLISHED_IBU) and not bench.has_surrogate(law):
        raise InvalidInput("method", method, f"be another one for {law.name}, whose sums are no counts", "use norm-sub")
    if name == bench.LIKELY and not bench.reports_are_items(law):
        rule = f"be another one for {law.name}: its reports are no items, and only the support of items is kept"
        raise InvalidInput("method", method, rule, "use ibu or norm-sub")
    with output.ending_cleanly(), output.progress(f"counting reports of {law.name}", quiet=sent.quiet):
        counted = asked.count(file, order=pairs)
        fit = require_fit(law, counted, asked.items, file.name)
        n = counted.n
        unbiased = law.estimate(counted.support, n)
        estimate = bench.estimated(law, counted.support, n, name)
        around = share_intervals(law, counted.support, n, share, CONFIDENCE)
    found = _Found(asked.items, estimate, unbiased, around, n)
    problem = _asked(asked, n, name)
    answer = Answer(problem, CONFIDENCE, share, around.method, _fitting(fit), tuple(found.rows()))
    _warn_of_doubt(fit)
    if out is not None:
        sent.keep(dump_json(encoded(answer)) if out.suffix.lower() == ".json" else _csv(found))
    if sent.as_json:
        output.print_json(answer)
        return
    _print(found, f"{_about(asked)}, {n:,} reports, {name}", fit)
    sent.say_saved()


def _about(asked: Survey) -> str:
    law, told = asked.law, "".join(f", {option} = {value:g}" for option, value in asked.options.items())
    made = "" if asked.client == OWN else f", clients of {asked.client}"
    return f"{law.name}, eps = {law.epsilon:g}{told}, p* = {law.p:.5g}, q* = {law.q:.5g}{made}"


def _asked(asked: Survey, n: int, method: str) -> Asked:
    law = asked.law
    return Asked(law.name, law.epsilon, law.size, n, method, law.p, law.q, asked.client, **asked.options)


def _fitting(fit: Fit) -> Fitting:
    return Fitting(fit.deviations, fit.chance, fit.statistics)


def _warn_of_doubt(fit: Fit) -> None:
    if fit.chance < DOUBTFUL:
        worst = f"{fit.worst.name} {fit.worst.found:.4g}, not {fit.worst.expected:.4g}"
        output.warn(f"doubtful reports: {worst}: {fit.deviations:.1f} deviations off, chance at most {fit.chance:.1g}")


# -- groups ------------------------------------------------------------------------------------------------------------


def _groups(files: Sequence[Path], surveys: Sequence[Path], said: Sequence[str]) -> list[Survey]:
    """The survey of each file, all of the same items."""
    if said:
        raise InvalidInput(said[0], "several files", "be left out: the surveys say it", "give --survey for each file")
    if len(surveys) != len(files):
        rule = "be one for each file of reports, in the order of the files"
        raise InvalidInput("survey", f"{len(surveys)} for {len(files)} files", rule, "`protocols --out` writes them")
    found = [Survey.read(path) for path in surveys]
    for path, one in zip(surveys, found, strict=True):
        if one.items != found[0].items:
            raise InvalidInput(str(path), f"{len(one.items)} items", f"have the items of {surveys[0]}, in that order")
    return found


def _run_groups(groups: Sequence[tuple[Path, Survey]], sent: Sent, name: str, share: str, order: str | None) -> None:
    """Estimates from the reports of several groups together."""
    if name in (bench.LIKELY, bench.PUBLISHED_IBU):
        raise InvalidInput("method", name, "be another one for several groups", f"use {bench.IBU} or norm-sub")
    for _, one in groups:
        if name == bench.IBU and not bench.has_surrogate(one.law):
            rule = f"be another one for {one.law.name}, whose sums are no counts"
            raise InvalidInput("method", name, rule, "use norm-sub")
    heard: list[Heard] = []
    fits: list[Fit] = []
    with output.ending_cleanly(), output.progress("counting reports", quiet=sent.quiet):
        for file, one in groups:
            counted = one.count(file, order=order)
            fits.append(require_fit(one.law, counted, one.items, file.name))
            heard.append(Heard(one.law, np.asarray(counted.support), counted.n))
        unbiased, around = intervals_of_groups(heard, share, CONFIDENCE)
        estimate, gap = _of_groups(heard, unbiased, name)
    n, items = sum(one.n for one in heard), groups[0][1].items
    found = _Found(items, estimate, unbiased, around, n)
    each = tuple(_asked(one, of.n, name) for (_, one), of in zip(groups, heard, strict=True))
    problem = AskedOfGroups(len(items), n, name, each)
    fitting = tuple(map(_fitting, fits))
    answer = AnswerOfGroups(problem, CONFIDENCE, share, around.method, fitting, tuple(found.rows()), gap)
    for fit in fits:
        _warn_of_doubt(fit)
    if gap is not None and gap > estimators.TOLERANCE:
        output.warn(
            f"ibu stopped after {estimators.MOST_STEPS:,} steps: its log-likelihood is within {gap:.2g} of the best"
        )
    if sent.out is not None:
        sent.keep(dump_json(encoded(answer)) if sent.out.suffix.lower() == ".json" else _csv(found))
    if sent.as_json:
        output.print_json(answer)
        return
    for (file, one), of in zip(groups, heard, strict=True):
        output.console.print(f"{file.name}: {_about(one)}, {of.n:,} reports", soft_wrap=True)
    _print(found, f"{len(groups)} groups, {n:,} reports, {name}", min(fits, key=lambda fit: fit.chance))
    if name == bench.IBU:
        line = "  ibu takes all users for samples of one population; the unbiased estimates and intervals do not."
        output.console.print(line, soft_wrap=True)
    sent.say_saved()


def _of_groups(heard: Sequence[Heard], unbiased: Floats, name: str) -> tuple[Floats, float | None]:
    """The estimate asked for and, of a likelihood, how far from the best it may be."""
    if name == bench.RAW:
        return unbiased, None
    if name == bench.IBU:
        supports = [estimators.of_support(one.support, one.law.p, one.law.q) for one in heard]
        likely = estimators.ibu_of_groups(supports)
        return likely.frequencies, likely.gap
    n = sum(one.n for one in heard)

    def variance(f: Floats) -> Floats:
        return np.asarray(sum((one.n / n) ** 2 * one.law.variance(f, one.n) for one in heard))

    return postprocess.METHODS[name](unbiased, postprocess.SupportNoise(n, variance)), None


def _survey(path: Path | None, said: dict[str, Any], options: dict[str, Any]) -> Survey:
    """The survey of the file, or of the options: never of both."""
    if path is not None:
        doubled = [*(name for name, value in said.items() if value is not None), *options]
        if doubled:
            raise InvalidInput(doubled[0], "--survey too", "be left out: the survey says it", "or leave out --survey")
        return Survey.read(path)
    for name, example in (("protocol", "olh"), ("eps", "1"), ("domain", "a,b,c")):
        if said[name] is None:
            tip = f"for example --{name} {example}, or --survey with the file of the survey"
            raise InvalidInput(name, None, "be given", tip)
    items = parse_domain_labels(said["domain"])
    chances = said["p"], said["q"]
    return Survey(said["protocol"], said["eps"], items, said["client"] or OWN, options, *chances)


def _csv(found: _Found) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "frequency", "count", "unbiased", "standard_error", "low", "high", "for"])
    for row in found.rows():
        said = [row[name] for name in ("item", "frequency", "count", "unbiased", "standard_error")]
        writer.writerow([*said, *row["interval"], found.around.of])
    return text.getvalue()


def _print(found: _Found, title: str, fit: Fit) -> None:
    ordered = sorted(found.rows(), key=lambda row: -row["frequency"])
    rows = [
        [
            row["item"],
            output.number(row["frequency"]),
            f"{row['count']:.0f}",
            output.number(row["unbiased"]),
            output.number(row["standard_error"]),
            f"[{output.number(row['interval'][0])}, {output.number(row['interval'][1])}]",
        ]
        for row in ordered[:_MOST_SHOWN]
    ]
    headings = ["item", "frequency", "count", "unbiased", "standard error", "95% interval"]
    output.print_table(title, headings, rows)
    if len(ordered) > _MOST_SHOWN:
        output.console.print(f"  and {len(ordered) - _MOST_SHOWN} more; --out saves all items", soft_wrap=True)
    about = "normal, about the unbiased estimate" if found.around.method == "normal" else found.around.method
    output.console.print(f"  Intervals: for shares of {_OF[found.around.of]}; {about}.", soft_wrap=True)
    output.console.print(f"  Fit: {_said(fit)}.", soft_wrap=True)


def _said(fit: Fit) -> str:
    """How well the reports fit, in a line."""
    worst = fit.worst
    if not fit.deviations:
        return "all shares lie between 0 and 1, as they must; nothing else can be tested"
    far = f"{worst.name} {worst.found:.4g}, {worst.expected:.4g} is due: {fit.deviations:.1f} deviations off"
    return f"{far} (the worst of {len(fit.statistics)} tests; refused where chance is below {REFUSED:g})"
