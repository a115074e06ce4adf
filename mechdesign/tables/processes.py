"""Processes of this machine that work together: started with a task each, listened to, and ended whatever happens."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from mechdesign.errors import MechDesignError
from mechdesign.tables import member
from mechdesign.values.clock import Clock
from mechdesign.values.declare import frozen

DISCARDED = "the run has stopped for all and its reports are discarded"


class RunFailed(MechDesignError):
    """A run that did not reach its end: a party left, or the time was up. Every report of it is thrown away."""


@frozen
class Happening:
    """A step of one party: its stage, its process, and how many steps of all there are to come."""

    party: int
    process: int
    stage: str
    done: int
    total: int


@dataclass(slots=True)
class Crowd:
    """Processes, and what they say: a party and its news, None once it says nothing more."""

    processes: list[subprocess.Popen[str]]
    news: queue.Queue[tuple[int, dict[str, Any] | None]] = field(default_factory=queue.Queue)

    def news_until_finished(
        self, clock: Clock, steps: Mapping[str, int], on_progress: Callable[[Happening], None]
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        """What parties say until all are finished; `RunFailed` if one leaves or the time is up.

        ``steps`` says how often each stage is told of, and each time so is ``on_progress``.
        """
        finished = done = 0
        while finished < len(self.processes):
            said = self._next_news(clock.left())
            if said is None:
                continue
            party, stage = said[0], said[1]["stage"]
            if stage == "finished":
                finished += 1
                continue
            yield said
            if stage in steps:
                done += 1
                on_progress(Happening(party, self.processes[party].pid, stage, done, sum(steps.values())))

    def _next_news(self, seconds: float | None) -> tuple[int, dict[str, Any]] | None:
        """What a party says next, None where one has ended well; `RunFailed` if one left or the time is up."""
        try:
            party, news = self.news.get(timeout=seconds)
        except queue.Empty:
            raise RunFailed(f"the time for the protocol is up; {DISCARDED}") from None
        if news is None:
            if self.processes[party].wait() == 0:
                return None
            raise RunFailed(f"party {party} left in the middle of the protocol; {DISCARDED}") from None
        if "failed" in news:
            raise RunFailed(f"party {news['party']} left in the middle of the protocol; {DISCARDED}")
        return party, news


@contextlib.contextmanager
def processes(tasks: Sequence[dict[str, Any]], program: str) -> Iterator[Crowd]:
    """The parties at work, each with its task in a file's program; killed on the way out, whatever the way."""
    paths = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {**os.environ, "PYTHONPATH": paths, "MPYC_NONUMPY": "1"}
    crowd = Crowd([])
    listeners: list[threading.Thread] = []
    try:
        for index, task in enumerate(tasks):
            process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", member.__file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                text=True,
                env=environment,
            )
            crowd.processes.append(process)
            assert process.stdin is not None
            with contextlib.suppress(BrokenPipeError):
                process.stdin.write(json.dumps(task | {"program": program}) + "\n")
                process.stdin.flush()
            listener = threading.Thread(target=_listen, args=(index, process, crowd), daemon=True)
            listener.start()
            listeners.append(listener)
        yield crowd
    finally:
        for process in crowd.processes:
            process.kill()
        for process, listener in zip(crowd.processes, listeners, strict=False):
            process.wait()
            listener.join()
        for process in crowd.processes:
            for stream in (process.stdin, process.stdout):
                if stream is not None:
                    with contextlib.suppress(BrokenPipeError):
                        stream.close()


def _listen(index: int, process: subprocess.Popen[str], crowd: Crowd) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        # a killed party's last line may be cut short, and mpyc may print
        with contextlib.suppress(json.JSONDecodeError):
            news = json.loads(line)
            if isinstance(news, dict):
                crowd.news.put((index, news))
    crowd.news.put((index, None))


def free_ports(count: int) -> list[int]:
    """Ports of the loopback device that are free now."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in sockets]
