"""``python -m benchmarks [NAME ...] [--json]``: run the named benchmarks, or all of them.

Every line is a ratio of two times measured in this run. Targets are shown with a verdict and never asserted: how many
seconds something takes says more about the machine than about the code.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.table import Table

from benchmarks import (
    aaa,
    apply,
    budget,
    classifier,
    cold_start,
    compact,
    frequency,
    global_search,
    jrr,
    minimax,
    pairs,
    sampling,
    search,
    tables,
    trajectory,
    unbiased,
    warm_start,
)
from benchmarks.rows import Row

_WIDTH_OF_A_PIPE = 150

BENCHMARKS: dict[str, Callable[[], Iterator[Row]]] = {
    "sampling": sampling.rows,
    "search": search.rows,
    "global-search": global_search.rows,
    "cold-start": cold_start.rows,
    "warm-start": warm_start.rows,
    "minimax": minimax.rows,
    "pairs": pairs.rows,
    "unbiased": unbiased.rows,
    "compact": compact.rows,
    "tables": tables.rows,
    "apply": apply.rows,
    "aaa": aaa.rows,
    "frequency": frequency.rows,
    "jrr": jrr.rows,
    "budget": budget.rows,
    "trajectory": trajectory.rows,
    "classifier": classifier.rows,
}


def main(arguments: list[str] | None = None) -> None:
    chosen = _parse(arguments)
    progress = Console(stderr=True)
    rows: list[Row] = []
    for name in chosen.names or BENCHMARKS:
        with progress.status(f"measuring {name}"):
            rows.extend(BENCHMARKS[name]())
    if chosen.json:
        sys.stdout.write(json.dumps({"rows": [row.to_dict() for row in rows]}, indent=2) + "\n")
    else:
        Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH_OF_A_PIPE).print(_table(rows))


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Speeds, measured as ratios in one run.")
    known = ", ".join(BENCHMARKS)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"any of: {known} (all of them unless given)")
    parser.add_argument("--json", action="store_true", help="one JSON object on stdout instead of a table")
    chosen = parser.parse_args(arguments)
    unknown = [name for name in chosen.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"NAME must be one of {known} (got {', '.join(unknown)})")
    return chosen


def _table(rows: list[Row]) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2))
    for heading in ("name", "measured", "compared with", "ratio", "target", "verdict"):
        table.add_column(heading, justify="right" if heading in ("measured", "ratio") else "left")
    for row in rows:
        yardstick = f"{row.yardstick}: {_duration(row.yardstick_seconds)}"
        ratio = f"{row.ratio:.3g}" if row.ratio < 1000 else f"{row.ratio:.0f}"
        style = "bold red" if row.verdict == "missed" else ""
        cells = (row.name, _duration(row.seconds), yardstick, ratio, str(row.target), row.verdict)
        table.add_row(*cells, style=style)
    return table


def _duration(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1000 * seconds:.3g} ms"


if __name__ == "__main__":
    main()
