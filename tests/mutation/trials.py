"""Tries changes of one module on its tests, in a copy of the repository: ``python -m tests.mutation.trials``.

The tests are collected once. For each change a fork puts the code of the changed functions into those that are there,
and runs the tests until one fails, those that noticed others before and the quick ones first. What only happens when a
module is imported is tried in a process of its own. Changes and outcomes are lines of JSON, in and out.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, NoReturn

import pytest

from tests.mutation.changes import Change, applied, changes

_LONGEST = 5.0  # seconds of processor time: longer tests are left out
_MEMORY = 12 << 30
_SLOW = "too slow"
_OPTIONS = ("-q", "-p", "no:cacheprovider", "--no-header", "--tb=no", "-m", "not slow")


class Trials:
    """The loop of a test session in which every change is tried, instead of one run of the tests."""

    def __init__(self, module: str, keys: list[str], tests: list[str], stop: float) -> None:
        self._path, self._tests, self._stop = Path(module).absolute(), tests, stop
        self._source = self._path.read_text(encoding="utf-8")
        known = {change.key: change for change in changes(self._source)}
        self._wanted = [known[key] for key in keys]
        self._took: dict[str, float] = {}
        self._killers: list[str] = []
        self._answer = -1  # in a fork: where to write
        self._seconds, self._spare = 60.0, 0.0
        self._out = os.dup(1)
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what pytest says itself

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        old = dict(_outermost(compile(self._source, str(self._path), "exec")))
        functions = _functions(str(self._path), old)
        start = time.monotonic()
        if (failed := self._tried(None)) is not None:
            self._say({"tests take more than": self._stop - start} if failed == _SLOW else {"broken": failed})
            return True
        if self._answer >= 0:
            return None
        self._spare = 2 + 2 * max(self._took.values(), default=0.0)  # what tests share is made in any one of them
        self._seconds = 10 + 3 * sum(self._took.values())
        left_out = {name for name, took in self._took.items() if took > _LONGEST}
        session.items[:] = [item for item in session.items if item.nodeid not in left_out]
        self._say({"tests": len(session.items), "left_out": sorted(left_out), "seconds": time.monotonic() - start})
        for change in self._wanted:
            if time.monotonic() > self._stop:
                break
            text = applied(self._source, change)
            self._path.write_text(text, encoding="utf-8")
            try:
                outcome = self._outcome(session, change, text, functions)
                if self._answer >= 0:
                    return None
            finally:
                if self._answer < 0:
                    self._path.write_text(self._source, encoding="utf-8")
            self._say({"change": change.key, "outcome": outcome or "survived"})
        return True

    def _outcome(
        self, session: pytest.Session, change: Change, text: str, functions: dict[FunctionType, tuple[str, int]]
    ) -> str | None:
        try:
            new = dict(_outermost(compile(text, str(self._path), "exec")))
        except (SyntaxError, ValueError):
            return "not compiled"
        if not change.inside:
            return self._afresh()
        order = {name: place for place, name in enumerate(self._killers)}
        session.items.sort(key=lambda item: (order.get(item.nodeid, len(order)), self._took.get(item.nodeid, 0.0)))
        failed = self._tried({function: new[where] for function, where in functions.items() if where in new})
        if failed in self._killers:
            self._killers.remove(failed)
        if failed is not None and "::" in failed:
            self._killers.insert(0, failed)
        return failed

    def _tried(self, codes: dict[FunctionType, CodeType] | None) -> str | None:
        """What a fork with these codes fails at, None if at nothing; the fork itself returns, to run the tests.

        The first one has the codes that are there, and tells how long each test takes.
        """
        said = tempfile.TemporaryFile()  # noqa: SIM115  (both sides hold it)
        child = os.fork()
        if child == 0:
            self._answer = os.dup(said.fileno())
            said.close()
            self._begin(codes)
            return None
        stop = self._stop if codes is None else time.monotonic() + 20 * self._seconds
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0) and time.monotonic() < stop:
            time.sleep(0.005)
        if ended == (0, 0):
            os.killpg(child, signal.SIGKILL)
            ended = os.waitpid(child, 0)
        with said:
            said.seek(0)
            lines = [json.loads(line) for line in said]
        if codes is None:
            self._took = {line["test"]: line["took"] for line in lines if "took" in line}
        failed = next((line["failed"] for line in lines if "failed" in line), None)
        return failed or (_SLOW if os.WIFSIGNALED(ended[1]) else None)

    def _begin(self, codes: dict[FunctionType, CodeType] | None) -> None:
        os.setsid()
        quiet = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(quiet, stream)
        if codes is not None:
            resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
            for function, code in codes.items():
                function.__code__ = code
        self._start = time.process_time()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test that takes far longer than it did is ended, and the fork with it."""
        if self._answer >= 0 and self._took:
            signal.setitimer(signal.ITIMER_PROF, self._spare + 3 * self._took.get(nodeid, 0.0))

    def pytest_runtest_logreport(self, report: Any) -> None:
        if self._answer >= 0 and report.failed:
            self._write({"failed": report.nodeid})
            self._end()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        if self._answer >= 0:
            now = time.process_time()
            self._write({"test": nodeid, "took": now - self._start})
            self._start = now

    def pytest_sessionfinish(self) -> None:
        if self._answer >= 0:
            self._end()

    def _say(self, entry: dict[str, Any]) -> None:
        os.write(self._out, (json.dumps(entry) + "\n").encode())

    def _write(self, entry: dict[str, Any]) -> None:
        os.write(self._answer, (json.dumps(entry) + "\n").encode())

    def _end(self) -> NoReturn:
        os._exit(0)

    def _afresh(self) -> str | None:
        command = [sys.executable, "-m", "pytest", "-x", *_OPTIONS, *self._tests]
        try:
            done = subprocess.run(command, capture_output=True, timeout=20 * self._seconds, check=False, text=True)
        except subprocess.TimeoutExpired:
            return _SLOW
        if done.returncode == 0:
            return None
        return next((line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED")), "not imported")


def _outermost(code: CodeType, seen: dict[str, int] | None = None) -> Iterator[tuple[tuple[str, int], CodeType]]:
    """Codes of functions that stand in no other: by name, and if several have it by their number."""
    seen = defaultdict(int) if seen is None else seen
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            if inner.co_flags & 2:  # has locals of its own: a function
                yield (inner.co_qualname, seen[inner.co_qualname]), inner
                seen[inner.co_qualname] += 1
            else:  # the body of a class
                yield from _outermost(inner, seen)


def _functions(path: str, old: dict[tuple[str, int], CodeType]) -> dict[FunctionType, tuple[str, int]]:
    """The functions of a module by their code, wherever they are held."""
    places = {(code.co_qualname, code.co_firstlineno): where for where, code in old.items()}
    found = {}
    for value in gc.get_objects():
        if type(value) is FunctionType and value.__code__.co_filename == path:
            where = places.get((value.__code__.co_qualname, value.__code__.co_firstlineno))
            if where is not None:
                found[value] = where
    return found


if __name__ == "__main__":
    asked = json.load(sys.stdin)
    sys.dont_write_bytecode = True
    trials = Trials(asked["module"], asked["keys"], asked["tests"], time.monotonic() + asked["seconds"])
    sys.exit(pytest.main([*_OPTIONS, "-p", "no:randomly", "--basetemp=tmp", *asked["tests"]], plugins=[trials]))
