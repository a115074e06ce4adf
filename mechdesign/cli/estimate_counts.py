"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals.

Reports that do not fit what they are said to be are refused.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.collect import bench
from mechdesign.collect.clients import CLIENTS, OWN
from mechdesign.collect.datasets import parse_domain_labels
from mechdesign.collect.fit import DOUBTFUL, REFUSED, Fit, require_fit
from mechdesign.collect.intervals import POPULATION, SHARES, Intervals, share_intervals
from mechdesign.collect.reports import ORDERS
from mechdesign.collect.survey import Survey
from mechdesign.errors import InvalidInput
from mechdesign.values import files

_METHODS = bench.METHODS + bench.SLOW_METHODS
_MOST_SHOWN = 20
_OF = {"population": "the population the users were drawn from", "users": "these users"}

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
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
        return [
            {
                "item": label,
                "frequency": estimate,
                "count": estimate * self.n,
                "unbiased": unbiased,
                "standard_error": error,
                "interval": [low, high],
            }
            for label, estimate, unbiased, error, low, high in zip(
                self.labels, *(column.tolist() for column in columns), strict=True
            )
        ]


def run(
    file: Annotated[Path, typer.Argument(help="Reports, one a row (CSV, Parquet), or the client's array (.npy).")],
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
    out: Annotated[Path | None, typer.Option("--out", help="Save all items: .csv or .json.")] = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, force=force)
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
    with output.ending_cleanly(), output.progress(f"counting reports of {law.name}", quiet=quiet):
        counted = asked.count(file, order=pairs)
        fit = require_fit(law, counted, asked.items, file.name)
        n = counted.n
        unbiased = law.estimate(counted.support, n)
        estimate = bench.estimated(law, counted.support, n, name)
        around = share_intervals(law, counted.support, n, share, bench.CONFIDENCE)
    found = _Found(asked.items, estimate, unbiased, around, n)
    problem = {"protocol": law.name, "eps": law.epsilon, "items": law.size, "reports": n, "method": name}
    problem |= {"p": law.p, "q": law.q} | asked.options | {"client": asked.client}
    document = {
        "problem": problem,
        "confidence": bench.CONFIDENCE,
        "for": share,
        "interval_method": around.method,
        "fit": _fit(fit),
        "items": found.rows(),
    }
    if fit.chance < DOUBTFUL:
        worst = f"{fit.worst.name} {fit.worst.found:.4g}, not {fit.worst.expected:.4g}"
        output.warn(f"doubtful reports: {worst}: {fit.deviations:.1f} deviations off, chance at most {fit.chance:.1g}")
    if out is not None:
        content = files.dump_json(document) if out.suffix.lower() == ".json" else _csv(found)
        files.write_atomically(out, content.encode(), overwrite=force)
    if as_json:
        output.print_json(document)
        return
    told = "".join(f", {option} = {value:g}" for option, value in asked.options.items())
    made = "" if asked.client == OWN else f", clients of {asked.client}"
    chances = f"p* = {law.p:.5g}, q* = {law.q:.5g}"
    _print(found, f"{law.name}, eps = {law.epsilon:g}{told}, {chances}{made}, {n:,} reports, {name}", fit)
    if out is not None:
        output.say_saved(out)


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


def _fit(fit: Fit) -> dict[str, Any]:
    return {
        "deviations": fit.deviations,
        "chance": fit.chance,
        "statistics": [
            {
                "name": one.name,
                "found": one.found,
                "expected": one.expected,
                "deviations": one.deviations,
                "chance": one.chance,
            }
            for one in fit.statistics
        ],
    }


def _csv(found: _Found) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "frequency", "count", "unbiased", "standard_error", "low", "high", "for"])
    for row in found.rows():
        low, high = row.pop("interval")
        writer.writerow([*row.values(), low, high, found.around.of])
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
