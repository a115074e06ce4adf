"""The gallery: its slowest file, which a reader of its page waits for."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.clock import measured, median
from benchmarks.rows import Row, Target
from mechdesign.papers.gallery import ENTRIES

TARGET = Target(seconds=20.0)
YARDSTICK = "its median file"


def rows() -> Iterator[Row]:
    took = {entry.name: measured(entry.judge) for entry in ENTRIES}
    slowest = max(took, key=lambda name: took[name].seconds)
    yield Row(
        "the slowest file", YARDSTICK, took[slowest], median(list(took.values())), TARGET, f"{slowest}, of {len(took)}"
    )
