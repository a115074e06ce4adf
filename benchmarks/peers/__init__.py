"""Published packages, asked for what they take: they live in an environment of their own, behind a pipe.

The worker times its own work, so that the pipe costs nothing, and takes turns with ours like any other task.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.clock import Measured, Task

ROOT = Path(__file__).parents[2]
PLACE = "MECHDESIGN_PEERS"
"""The variable that names the interpreter of their environment, where that is not the one that make creates."""


@dataclass(frozen=True, slots=True)
class Peers:
    """The packages that the worker found, and the pipe to it."""

    versions: dict[str, str]
    worker: subprocess.Popen[str]

    def task(self, name: str, **given: Any) -> Task:
        """Work of that name in the worker, which measures itself."""
        request = json.dumps({"task": name, "given": given})
        return lambda: Measured(**self.ask(request))

    def ask(self, request: str) -> dict[str, Any]:
        assert self.worker.stdin is not None
        assert self.worker.stdout is not None
        print(request, file=self.worker.stdin, flush=True)
        answer = self.worker.stdout.readline()
        if not answer:
            raise RuntimeError("the environment of the peers is broken: its messages stand above")
        said: dict[str, Any] = json.loads(answer)
        return said


@contextmanager
def peers(wanted: Sequence[str]) -> Iterator[Peers | None]:
    """The worker with the packages wanted; None where their environment was not made."""
    python = interpreter()
    if not python.exists():
        yield None
        return
    command = [str(python), "-W", "ignore", "-m", "benchmarks.peers.worker"]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        found = Peers({}, worker)
        found.versions.update(found.ask(json.dumps({"task": "versions", "given": {"names": list(wanted)}})))
        yield found
        assert worker.stdin is not None
        worker.stdin.close()


def interpreter() -> Path:
    return Path(os.environ.get(PLACE, ROOT / ".venv-peers" / "bin" / "python"))
