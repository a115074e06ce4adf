"""Frequencies and counts of items from real reports in a file, with standard errors and 95% intervals."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from mechdesign import files
from mechdesign.cli import output
from mechdesign.cli.options import AsJson, Force, Quiet
from mechdesign.collect import bench
from mechdesign.collect.datasets import parse_domain_labels
from mechdesign.collect.protocols import protocol as build
from mechdesign.collect.protocols import variances
from mechdesign.collect.protocols.catalogue import entry
from mechdesign.collect.reports import read_support
from mechdesign.errors import InvalidInput

_METHODS = bench.METHODS + bench.SLOW_METHODS
_LIMITED = ("l-oue", "l-soue")  # one round of the other memoised protocols does not depend on the limit
_MOST_SHOWN = 20
_Z = NormalDist().inv_cdf((1 + bench.CONFIDENCE) / 2)

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class _Found:
    """By item: the estimate asked for, the unbiased one, and the standard error of the latter."""

    labels: tuple[str, ...]
    estimate: Floats
    unbiased: Floats
    error: Floats
    n: int

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "item": label,
                "frequency": estimate,
                "count": estimate * self.n,
                "unbiased": unbiased,
                "standard_error": error,
                "interval": [unbiased - _Z * error, unbiased + _Z * error],
            }
            for label, estimate, unbiased, error in zip(
                self.labels, self.estimate.tolist(), self.unbiased.tolist(), self.error.tolist(), strict=True
            )
        ]


def run(
    file: Annotated[Path, typer.Argument(help="Reports, one a row (CSV), or the client's array (.npy).")],
    protocol: Annotated[str, typer.Option("--protocol", "-p", help="What the clients ran, such as grr or olh.")],
    eps: Annotated[float, typer.Option("--eps", "-e", help="The epsilon the clients ran it with.")],
    domain: Annotated[str, typer.Option("--domain", help="All items in the clients' order: A,B,C or LO..HI.")],
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
    method: Annotated[str, typer.Option("--method", "-m", help=f"One of {', '.join(_METHODS)}.")] = "norm-sub",
    out: Annotated[Path | None, typer.Option("--out", help="Save all items: .csv or .json.")] = None,
    as_json: AsJson = False,
    force: Force = False,
    quiet: Quiet = False,
) -> None:
    output.require_outputs(out, force=force)
    if out is not None and out.suffix.lower() not in (".csv", ".json"):
        raise InvalidInput("output file", str(out), "end in .csv or .json", "for example --out counts.csv")
    output.require_apart([out], [file])
    name = method.strip().lower().replace("_", "-")
    if name not in _METHODS:
        raise InvalidInput("method", method, f"be one of {', '.join(_METHODS)}")
    labels = parse_domain_labels(domain)
    given = {"limit": limit, "g": hashes, "subset": subset, "threshold": threshold}
    options = {option: value for option, value in given.items() if value is not None}
    key = entry(protocol).key
    if limit is None and key in _LIMITED:
        raise InvalidInput("limit", limit, f"be given for {key}: its p* and q* depend on it", "pass --limit")
    law = build(key, eps, len(labels), **options)
    if name in (bench.IBU, bench.PUBLISHED_IBU) and not bench.has_surrogate(law):
        raise InvalidInput("method", method, f"be another one for {law.name}, whose sums are no counts", "use norm-sub")
    if name == bench.LIKELY and not bench.reports_are_items(law):
        rule = f"be another one for {law.name}: its reports are no items, and only the support of items is kept"
        raise InvalidInput("method", method, rule, "use ibu or norm-sub")
    with output.ending_cleanly(), output.progress(f"counting reports of {law.name}", quiet=quiet):
        support, n = read_support(file, law, labels)
        unbiased = law.estimate(support, n)
        estimate = bench.estimated(law, support, n, name)
        error = np.sqrt(variances(law, np.clip(unbiased, 0.0, 1.0), n))
    found = _Found(labels, estimate, unbiased, error, n)
    problem = {"protocol": law.name, "eps": law.epsilon, "items": law.size, "reports": n, "method": name}
    problem |= {"p": law.p, "q": law.q} | options
    document = {"problem": problem, "confidence": bench.CONFIDENCE, "items": found.rows()}
    if out is not None:
        content = files.dump_json(document) if out.suffix.lower() == ".json" else _csv(found)
        files.write_atomically(out, content.encode(), overwrite=force)
    if as_json:
        output.print_json(document)
        return
    said = "".join(f", {option} = {value:g}" for option, value in options.items())
    _print(found, f"{law.name}, eps = {eps:g}{said}, p* = {law.p:.5g}, q* = {law.q:.5g}, {n:,} reports, {name}")
    if out is not None:
        output.say_saved(out)


def _csv(found: _Found) -> str:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["item", "frequency", "count", "unbiased", "standard_error", "low", "high"])
    for row in found.rows():
        low, high = row.pop("interval")
        writer.writerow([*row.values(), low, high])
    return text.getvalue()


def _print(found: _Found, title: str) -> None:
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
    output.console.print(
        "  Intervals: normal, about the unbiased estimate, with the protocol's own variance.", soft_wrap=True
    )
