"""The command of the README in a fresh process, beside what a process pays for importing numpy and scipy alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator

from benchmarks.clock import fastest
from benchmarks.rows import Row, Target

TURNS = 5
TARGET = Target(seconds=2.0)
COMMAND = ("-m", "mechdesign", "ogpm", "--eps", "2")
YARDSTICK = ("-c", "import numpy, scipy.optimize")


def rows() -> Iterator[Row]:
    times = fastest({"command": _fresh(COMMAND), "imports": _fresh(YARDSTICK)}, TURNS)
    name = f"python {' '.join(COMMAND)}"
    yield Row(name, f"python {YARDSTICK[0]} '{YARDSTICK[1]}'", times["command"], times["imports"], TARGET)


def _fresh(arguments: tuple[str, ...]) -> Callable[[], object]:
    return lambda: subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
