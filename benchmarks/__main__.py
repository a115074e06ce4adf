"""``python -m benchmarks [--only NAME ...] [--page] [--json]``: run the benchmarks whose names hold one of the words.

Every line is a ratio of two times measured in this run. Targets are shown with a verdict and never asserted: how many
seconds something takes says more about the machine than about the code. A ratio that is more than 1.5 times that of
the last committed table is said, in red.

Each benchmark runs in a process of its own, so that its memory is its own.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from importlib import import_module

from rich.console import Console
from rich.table import Table

from benchmarks import report
from benchmarks.peers import interpreter
from benchmarks.report import Report, Section
from benchmarks.rows import Row

_WIDTH_OF_A_PIPE = 190

BENCHMARKS = (
    "sampling",
    "search",
    "global_search",
    "cold_start",
    "warm_start",
    "minimax",
    "pairs",
    "plane",
    "unbiased",
    "workload",
    "vector",
    "compact",
    "tables",
    "formal",
    "exports",
    "apply",
    "warehouse",
    "aaa",
    "frequency",
    "jrr",
    "budget",
    "trajectory",
    "classifier",
    "gallery",
)
"""Modules of this folder, each with a function ``rows`` that yields what it measured.

A new one is a module and its name here.
"""


def main(arguments: list[str] | None = None) -> int:
    chosen = _parse(arguments)
    if chosen.measure:
        rows = import_module(f"benchmarks.{chosen.measure}").rows()
        sys.stdout.write(json.dumps([row.to_dict() for row in rows]))
        return 0
    progress = Console(stderr=True)
    if not interpreter().exists():
        progress.print("the environment of the published packages is missing (make bench makes it): without them")
    found: dict[str, Section] = {}
    failed: list[str] = []
    for name in chosen.names:
        with progress.status(f"measuring {name}"):
            rows = _measured_apart(name)
        if rows is None:
            failed.append(name)
        else:
            found[name] = Section.now(rows)
    ran, last = Report(found), report.last_committed()
    if chosen.json:
        sys.stdout.write(ran.to_json())
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE).print(_table(ran, last))
    slower = ran.slower_than(last)
    for row, times in slower:
        progress.print(
            f"SLOWER: {row.name}, beside {row.yardstick}: {times:.2g} times the last committed ratio", style="bold red"
        )
    if chosen.page and found:
        report.write(ran.beside(last, BENCHMARKS), last)
        progress.print(f"wrote {report.PAGE.name} and {report.KEPT.name}")
    if failed:
        progress.print(f"FAILED: {', '.join(failed)} (the messages stand above)", style="bold red")
        return 1
    return 0


def _measured_apart(name: str) -> list[Row] | None:
    """The rows of a benchmark in a process of its own; None where it broke."""
    command = [sys.executable, "-m", "benchmarks", "--measure", name]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    return [Row.of(said) for said in json.loads(done.stdout)] if done.returncode == 0 else None


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speeds, measured as ratios in one run.")
    known = ", ".join(BENCHMARKS)
    parser.add_argument("--only", nargs="+", metavar="WORD", default=[], help=f"those whose name holds it, of: {known}")
    parser.add_argument(
        "--page", action="store_true", help="write these sections of the site's page, and the table it is made of"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of a table")
    parser.add_argument("--measure", choices=BENCHMARKS, help=argparse.SUPPRESS)
    chosen = parser.parse_args(arguments)
    chosen.names = [name for name in BENCHMARKS if not chosen.only or any(word in name for word in chosen.only)]
    if not chosen.names:
        parser.error(f"--only must be in the name of one of {known} (got {', '.join(chosen.only)})")
    return chosen


def _table(ran: Report, last: Report | None) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in report.HEADINGS:
        table.add_column(heading, justify="right" if heading in ("measured", "ratio", "memory") else "left")
    for row in ran.rows:
        bad = row.verdict == "missed" or report.times_slower(row, last) is not None
        table.add_row(*report.cells(row, last), style="bold red" if bad else "")
    return table


if __name__ == "__main__":
    sys.exit(main())
