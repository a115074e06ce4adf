"""How tests draw examples, and how much work something is in numbers that do not depend on the machine.

Hypothesis draws the same examples everywhere, so that a red run can be repeated; ``HYPOTHESIS_PROFILE=explore`` draws
new ones. No example is timed: machines are noisy, and speeds live in ``benchmarks/``.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN and threading.current_thread() is threading.main_thread():
    # a suite in the background may be started so, and processes hand it down: tests of Ctrl-C would see nothing
    signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("repeat", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

_UNTIL = float(os.environ.get("TESTS_UNTIL", "inf"))
"""In seconds since 1970: when the time that CI has for tests is over."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slow tests come last."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A test that CI has no time for is skipped by name, and counted as skipped."""
    if time.time() > _UNTIL:
        pytest.skip("not tried: the time of this run was over (TESTS_UNTIL)")


@pytest.fixture
def calls_of() -> Callable[[Callable[[], object]], int]:
    """Counts the functions, of Python and of C, that a task calls: a user or an entry at a time would show."""

    def count(task: Callable[[], object]) -> int:
        calls = 0

        def look(_: Any, event: str, __: Any) -> None:
            nonlocal calls
            calls += event in ("call", "c_call")

        before = sys.getprofile()
        sys.setprofile(look)
        try:
            task()
        finally:
            sys.setprofile(before)
        return calls

    return count


@pytest.fixture
def peak_of() -> Callable[[Callable[[], object]], int]:
    """The most bytes, arrays included, that a task holds at a time."""

    def measure(task: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            task()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure
