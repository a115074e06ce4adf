"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals.

Reports that do not fit what they are said to be are refused.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign.cli import output
from mechdesign.cli.certified import if_shown
from mechdesign.cli.estimated import Estimated
from mechdesign.cli.sent import Sent, kept
from mechdesign.collect import bench
from mechdesign.collect.clients import CLIENTS, OWN
from mechdesign.collect.datasets import parse_domain_labels
from mechdesign.collect.fit import DOUBTFUL, REFUSED, Fit, Statistic, require_fit
from mechdesign.collect.intervals import POPULATION, SHARES, Intervals, share_intervals
from mechdesign.collect.reports import ORDERS
from mechdesign.collect.survey import Survey
from mechdesign.errors import InvalidInput
from mechdesign.values import files
from mechdesign.values.codec import encoded, named
from mechdesign.values.declare import field, frozen
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


ANSWERS = ((Answer,),)
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
    file: Annotated[Path, typer.Argument(help="Reports, one a row (CSV, Parquet), or the client's array (.npy).")],
    sent: Annotated[Sent, kept("Save all items: .csv or .json.")],
    protocol: Annotated[
        str | None, typer.Option("--protocol", "-p", help="What the clients ran, such as grr or olh.")
    ] = None,
    eps: Annotated[float | None, typer.Option("--eps", "-e", help="The epsilon the clients ran it with.")] = None,
    domain: Annotated[
        str | None, typer.Option("--domain", help="All items in the clients' order: A,B,C or LO..HI.")
    ] = None,
    survey: Annotated[
        Path | None,
        typer.Option("--survey", help="What the clients ran, as `protocols --out` wrote it: instead of the options."),
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
    output.require_apart([out], [file] if survey is None else [file, survey])
    name = method.strip().lower().replace("_", "-")
    if name not in _METHODS:
        raise InvalidInput("method", method, f"be one of {', '.join(_METHODS)}")
    if share not in SHARES:
        raise InvalidInput("for", share, f"be {' or '.join(SHARES)}")
    said = {"protocol": protocol, "eps": eps, "domain": domain, "client": client, "p": p, "q": q}
    options = {"limit": limit, "g": hashes, "subset": subset, "threshold": threshold}
    asked = _survey(survey, said, {option: value for option, value in options.items() if value is not None})
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
        around = share_intervals(law, counted.support, n, share, bench.CONFIDENCE)
    found = _Found(asked.items, estimate, unbiased, around, n)
    chances = law.p, law.q
    problem = Asked(law.name, law.epsilon, law.size, n, name, *chances, asked.client, **asked.options)
    answer = Answer(
        problem,
        bench.CONFIDENCE,
        share,
        around.method,
        Fitting(fit.deviations, fit.chance, fit.statistics),
        tuple(found.rows()),
    )
    if fit.chance < DOUBTFUL:
        worst = f"{fit.worst.name} {fit.worst.found:.4g}, not {fit.worst.expected:.4g}"
        output.warn(f"doubtful reports: {worst}: {fit.deviations:.1f} deviations off, chance at most {fit.chance:.1g}")
    if out is not None:
        sent.keep(files.dump_json(encoded(answer)) if out.suffix.lower() == ".json" else _csv(found))
    if sent.as_json:
        output.print_json(answer)
        return
    told = "".join(f", {option} = {value:g}" for option, value in asked.options.items())
    made = "" if asked.client == OWN else f", clients of {asked.client}"
    support = f"p* = {law.p:.5g}, q* = {law.q:.5g}"
    _print(found, f"{law.name}, eps = {law.epsilon:g}{told}, {support}{made}, {n:,} reports, {name}", fit)
    sent.say_saved()


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
