"""Timing that survives a busy machine: the tasks take turns, and the fastest turn of each counts.

Noise only ever adds time, so the least of several turns is the best estimate of what a task costs; taking turns gives
every task the same share of the machine's quiet and busy moments.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping

Task = Callable[[], object]


def seconds(task: Task) -> float:
    """Wall-clock seconds of one call."""
    started = time.perf_counter()
    result = task()
    elapsed = time.perf_counter() - started
    del result  # freed after the clock stops: the task is charged for making its answer, not for dropping it
    return elapsed


def fastest(tasks: Mapping[str, Task], turns: int) -> dict[str, float]:
    """The least seconds of each task over ``turns`` rounds in which every task runs once, after a round unmeasured.

    >>> times = fastest({"nothing": lambda: None, "sleep": lambda: time.sleep(0.01)}, turns=2)
    >>> times["nothing"] < times["sleep"]
    True
    """
    for task in tasks.values():
        task()
    was_on = gc.isenabled()
    gc.disable()
    try:
        rounds = [{name: seconds(task) for name, task in tasks.items()} for _ in range(turns)]
    finally:
        if was_on:
            gc.enable()
    return {name: min(times[name] for times in rounds) for name in tasks}
