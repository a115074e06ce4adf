"""The command of the README in a fresh process, beside what a process pays for importing numpy and scipy alone; and the
import of the package beside that of one part of scipy."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator

from benchmarks.clock import Measured, medians
from benchmarks.rows import Row, Target

TURNS = 7
TARGET = Target(seconds=2.0)
IMPORTED = Target(ratio=1.0)
COMMAND = ("-m", "mechdesign", "ogpm", "--eps", "2")
YARDSTICK = ("-c", "import numpy, scipy.optimize")
IMPORT = ("-c", "import mechdesign")
PART = ("-c", "import scipy.stats")


def rows() -> Iterator[Row]:
    times = medians({said(arguments): _fresh(arguments) for arguments in (COMMAND, YARDSTICK, IMPORT, PART)}, TURNS)
    for ours, theirs, target in ((COMMAND, YARDSTICK, TARGET), (IMPORT, PART, IMPORTED)):
        yield Row(said(ours), said(theirs), times[said(ours)], times[said(theirs)], target)


def said(arguments: tuple[str, ...]) -> str:
    return "python " + " ".join(f"'{word}'" if " " in word else word for word in arguments)


def _fresh(arguments: tuple[str, ...]) -> Callable[[], Measured]:
    """A process of its own, whose memory is not ours to tell."""

    def run() -> Measured:
        started = time.perf_counter()
        subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
        return Measured(time.perf_counter() - started)

    return run
