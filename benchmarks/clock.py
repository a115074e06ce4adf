"""Times that can be compared on a busy machine: the tasks take turns, and the median turn of each counts.

Turns give every task the same share of the machine's quiet and busy moments; a median forgets a moment that hit one of
them alone. Memory is the most that the process held at a time in any of a task's turns, libraries included.
"""

from __future__ import annotations

import gc
import re
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

Task = Callable[[], object]

PATIENCE = 30.0  # seconds: so long a set of tasks takes turns, however many were asked for
_STATUS, _FORGET = Path("/proc/self/status"), Path("/proc/self/clear_refs")


@dataclass(frozen=True, slots=True)
class Measured:
    """What a task took. Work that was measured in part is scaled: times a number, the memory stays.

    >>> 3 * Measured(2.0, 100.0) / 2
    Measured(seconds=3.0, megabytes=100.0)
    """

    seconds: float
    megabytes: float | None = None

    def __mul__(self, times: float) -> Measured:
        return replace(self, seconds=self.seconds * times)

    __rmul__ = __mul__

    def __truediv__(self, times: float) -> Measured:
        return replace(self, seconds=self.seconds / times)


def measured(task: Task) -> Measured:
    """One call by the wall clock. A task that measures itself, in another process, returns what it `Measured`."""
    _forget_peak()
    started = time.perf_counter()
    result = task()
    elapsed = time.perf_counter() - started
    if isinstance(result, Measured):
        return result
    del result  # freed after the clock stops: the task is charged for making its answer, not for dropping it
    return Measured(elapsed, peak_megabytes())


def median(turns: Sequence[Measured]) -> Measured:
    """The median of the seconds, the most of the memory."""
    held = [turn.megabytes for turn in turns if turn.megabytes is not None]
    return Measured(statistics.median(turn.seconds for turn in turns), max(held, default=None))


def medians(tasks: Mapping[str, Task], turns: int) -> dict[str, Measured]:
    """Each task's median over ``turns`` rounds in which every task runs once, after a round that does not count.

    Where rounds are long they are fewer, so that all of it stays near `PATIENCE`; one always counts.

    >>> times = medians({"nothing": lambda: None, "sleep": lambda: time.sleep(0.01)}, turns=3)
    >>> times["nothing"].seconds < times["sleep"].seconds
    True
    """
    started = time.perf_counter()
    for task in tasks.values():
        task()
    rounds: list[dict[str, Measured]] = []
    was_on = gc.isenabled()
    gc.disable()
    try:
        while len(rounds) < turns and (not rounds or time.perf_counter() - started < PATIENCE):
            rounds.append({name: measured(task) for name, task in tasks.items()})
    finally:
        if was_on:
            gc.enable()
    return {name: median([times[name] for times in rounds]) for name in tasks}


def peak_megabytes() -> float:
    """The most that this process has held in memory since `_forget_peak`; where nothing forgets, since it began."""
    if _STATUS.exists():  # getrusage would count what the parent held when it forked
        found = re.search(r"VmHWM:\s*(\d+) kB", _STATUS.read_text())
        if found:
            return int(found[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def _forget_peak() -> None:
    """Linux counts the peak anew when told so."""
    if _FORGET.exists():
        _FORGET.write_text("5")
