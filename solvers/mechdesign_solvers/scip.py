"""SCIP, through Pyomo's direct interface: global optima of bilinear programs.

The solve runs in a child process. SCIP cannot be trusted to watch its own clock, so the child reports
every better point and bound as it finds them and is killed when the time is up; what it has reported
by then is the answer.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

import numpy as np

from .programs import NO_LIMITS, BilinearProgram, Limits, Program
from .protocol import Capability, ensure_installed, kind_of, require
from .solution import Solution, Status
from .strengthen import with_implied_cones

_STATUS = {
    "optimal": Status.OPTIMAL,
    "gaplimit": Status.OPTIMAL,
    "infeasible": Status.INFEASIBLE,
    "unbounded": Status.UNBOUNDED,
    "timelimit": Status.TIME_LIMIT,
    "nodelimit": Status.ITERATION_LIMIT,
    "totalnodelimit": Status.ITERATION_LIMIT,
}

_CHILD = "mechdesign_solvers._scip_child"
_START_SECONDS = 60.0
_END_SECONDS = 5.0
_MOST_COMPLAINTS, _MOST_SHOWN = 1 << 16, 200
_GRACE_SECONDS = 0.5
_GRACE_SHARE = 0.02

# Tightening variable bounds by optimisation at every node, not at the root alone, halves the time of
# bilinear programs whose relaxation is weak; programs that do not need it hardly notice.
_SETTINGS: Mapping[str, Any] = MappingProxyType({"propagating/obbt/freq": 1})


@dataclass(frozen=True, slots=True)
class Scip:
    """The SCIP solver for bilinear (and linear) programs, to global optimality.

    ``tolerance`` is SCIP's feasibility tolerance. Its default of 1e-6 lets the reported optimum of a
    steep program fall below the true one by as much, so it is tightened here. ``settings`` are SCIP
    parameters by their SCIP names and win over everything else.

    >>> from mechdesign_solvers import LinearProgram, Product
    >>> box = LinearProgram.of(cost=[0, 0], matrix=[[1, 1]], row_upper=1, lower=-1, upper=1)
    >>> solution = Scip().solve(BilinearProgram(box, (Product(0, 1),)))
    >>> solution.status.value, round(solution.objective, 6), round(solution.bound, 5)
    ('optimal', -1.0, -1.0)
    """

    tolerance: float = 1e-9
    settings: Mapping[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return "SCIP"

    @property
    def capabilities(self) -> Capability:
        return Capability.LINEAR | Capability.BILINEAR | Capability.DUAL_BOUND

    def solve(self, program: Program, limits: Limits = NO_LIMITS) -> Solution:
        """Solve to the gap of ``limits``, or return what is known when a limit is reached."""
        require(self, kind_of(program))
        ensure_installed("SCIP", "pyscipopt", "mechdesign[scip]")
        ensure_installed("SCIP", "pyomo", "mechdesign")
        stated = program if isinstance(program, BilinearProgram) else BilinearProgram(program)
        started = time.perf_counter()
        known = _Known(stated)
        task = {
            "program": with_implied_cones(stated),
            "parameters": self._parameters(limits),
            "seconds": limits.seconds,
        }
        with tempfile.TemporaryFile() as complaints, _child(task, complaints) as messages:
            _follow(messages, known, limits.seconds)
        return replace(known.solution(), seconds=time.perf_counter() - started)

    def _parameters(self, limits: Limits) -> dict[str, Any]:
        chosen = {**_SETTINGS, "numerics/feastol": self.tolerance, "limits/gap": limits.relative_gap}
        if limits.seconds is not None:
            chosen["limits/time"] = limits.seconds
        if limits.iterations is not None:
            chosen["limits/nodes"] = limits.iterations
        return {**chosen, **self.settings}


class _Known:
    """What the child has said so far. Bounds only ever improve."""

    def __init__(self, program: BilinearProgram) -> None:
        self._program = program
        self._status = Status.FAILED
        self._bound = program.objective_range()[0]
        self._point: list[float] | None = None
        self._nodes = 0
        self._version = "unknown"
        self._message = ""

    def hear(self, news: Mapping[str, Any]) -> None:
        self._bound = max(self._bound, news.get("bound", -math.inf))
        self._point = news.get("point", self._point)
        self._nodes = news.get("nodes", self._nodes)
        self._version = news.get("version", self._version)
        if "outcome" in news:
            self._status = _STATUS.get(news["outcome"], Status.FAILED)
            self._message = news["outcome"]
        if "failure" in news:
            self.fail(news["failure"])

    def time_is_up(self) -> None:
        self._status, self._message = Status.TIME_LIMIT, "stopped from outside: past its time limit"

    def fail(self, reason: str) -> None:
        self._status, self._message = Status.FAILED, reason

    def solution(self) -> Solution:
        primal = None
        answers = self._status not in (Status.INFEASIBLE, Status.UNBOUNDED)
        if self._point is not None and answers:
            primal = np.array(self._point[: self._program.linear.columns])
        bound = {Status.INFEASIBLE: math.inf, Status.UNBOUNDED: -math.inf}.get(self._status, self._bound)
        return Solution(
            status=self._status,
            solver="SCIP",
            version=self._version,
            seconds=0.0,
            primal=primal,
            objective=None if primal is None else self._program.objective_at(primal),
            bound=bound,
            iterations=self._nodes,
            message=self._message,
        )


def _follow(messages: queue.Queue[Mapping[str, Any]], known: _Known, seconds: float | None) -> None:
    """Listen until the child is done, dies, or is past its time (start-up is not charged to it)."""
    deadline: float | None = time.monotonic() + _START_SECONDS
    running = False
    while True:
        patience = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            news = messages.get(timeout=patience)
        except queue.Empty:
            if running:
                known.time_is_up()
            else:
                known.fail(f"the solver process did not start within {_START_SECONDS:.0f} s")
            return
        known.hear(news)
        if "started" in news:
            running = True
            grace = 0.0 if seconds is None else max(_GRACE_SECONDS, _GRACE_SHARE * seconds)
            deadline = None if seconds is None else time.monotonic() + seconds + grace
        if "outcome" in news or "failure" in news:
            return


@contextlib.contextmanager
def _child(task: Mapping[str, Any], complaints: IO[bytes]) -> Iterator[queue.Queue[Mapping[str, Any]]]:
    """A solver process at work on the task; killed on the way out, whatever the way."""
    process = subprocess.Popen(
        [sys.executable, "-P", "-W", "ignore", "-m", _CHILD],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=complaints,  # a pipe could fill up
        env={**os.environ, "PYTHONPATH": os.pathsep.join(_import_path())},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    messages: queue.Queue[Mapping[str, Any]] = queue.Queue()
    listener = threading.Thread(target=_listen, args=(process, complaints, messages), daemon=True)
    try:
        listener.start()
        # A child that dies at once breaks the pipe; the listener reports its death.
        with contextlib.suppress(BrokenPipeError):
            pickle.dump(task, process.stdin)
            process.stdin.flush()
        # The pipe stays open: its end of file tells the child that this process is gone.
        yield messages
    finally:
        process.kill()
        process.wait()
        listener.join()
        process.stdout.close()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()


def _listen(process: subprocess.Popen[bytes], complaints: IO[bytes], messages: queue.Queue[Mapping[str, Any]]) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        # The last line of a killed child may be cut short.
        with contextlib.suppress(json.JSONDecodeError):
            messages.put(json.loads(line))
    messages.put({"failure": _last_words(process, complaints)})


def _last_words(process: subprocess.Popen[bytes], complaints: IO[bytes]) -> str:
    """How the solver process ended, and the error it printed last, if any."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_END_SECONDS)
    code = process.returncode
    if code is None:
        return "the solver process closed its channel"
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    complaints.seek(0)
    said = [line.rstrip() for line in complaints.read(_MOST_COMPLAINTS).decode(errors="replace").splitlines()]
    errors = [line for line in said if line and not line[0].isspace()]  # lines of a traceback are indented
    return f"the solver process ended {how}" + (f" ({errors[-1][:_MOST_SHOWN]})" if errors else "")


def _import_path() -> list[str]:
    """Where this process imports from, so that the child imports the same packages."""
    here = str(Path(__file__).resolve().parent.parent)
    return [here, *(entry for entry in sys.path if entry)]
