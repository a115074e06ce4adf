"""Where the batches of an experiment run: this process, local processes, or a Dask cluster.

An engine takes a function and batches and gives ``(position, result)`` in the order they finish. Results depend on the
batches alone: a worker that dies costs time, because its batches run again, and no number.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any, Protocol, TypeVar

from mechdesign.errors import InvalidInput, MechDesignError, MissingExtra

Batch = TypeVar("Batch")
Result = TypeVar("Result")

MOST_DEATHS = 3
_ANSWER_SECONDS = 10.0


class WorkFailed(MechDesignError):
    """Work that a worker could not do; what other batches gave is kept by who asked."""


class Engine(Protocol):
    """Runs a function on every batch."""

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]: ...


@dataclass(frozen=True, slots=True)
class Local:
    """This process if ``workers`` is 1, else that many processes of this machine."""

    workers: int = 1

    def __post_init__(self) -> None:
        if isinstance(self.workers, bool) or not isinstance(self.workers, int) or not 1 <= self.workers <= 1024:
            raise InvalidInput("workers", self.workers, "be a whole number from 1 to 1024", "for example -t 2")

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]:
        if self.workers == 1:
            for position, batch in enumerate(batches):
                yield position, work(batch)
            return
        waiting, deaths = dict(enumerate(batches)), 0
        while waiting:
            before = len(waiting)
            for position, result in self._until_a_death(work, waiting):
                del waiting[position]
                yield position, result
            deaths = 0 if len(waiting) < before else deaths + 1
            if deaths == MOST_DEATHS:
                reasons = "out of memory, or a script that starts them without `if __name__ == '__main__'`?"
                raise WorkFailed(f"worker processes died {deaths} times without finishing anything ({reasons})")

    def _until_a_death(
        self, work: Callable[[Batch], Result], waiting: dict[int, Batch]
    ) -> Iterator[tuple[int, Result]]:
        """What one pool of processes finishes: everything, or less if a process dies."""
        # fresh processes: forks would inherit locks held by the threads of other libraries
        pool = ProcessPoolExecutor(min(self.workers, len(waiting)), get_context("spawn"), _leave_interrupts_to_parent)
        try:
            futures = {pool.submit(partial(_guarded, work), batch): position for position, batch in waiting.items()}
            for future in as_completed(futures):
                yield futures[future], _opened(future.result())
        except BrokenProcessPool:
            return
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class Dask:
    """A Dask cluster: the one whose scheduler has this address, or a local one with ``workers`` processes."""

    scheduler: str | None = None
    workers: int = 1

    def __call__(self, work: Callable[[Batch], Result], batches: Sequence[Batch]) -> Iterator[tuple[int, Result]]:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise MissingExtra("engine 'dask'", "data") from None
        if self.scheduler is None:
            options = {"threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
            with (
                distributed.LocalCluster(n_workers=Local(self.workers).workers, **options) as cluster,
                distributed.Client(cluster, set_as_default=False) as client,
            ):
                yield from _on_dask(distributed, client, work, batches)
            return
        try:
            client = distributed.Client(self.scheduler, timeout=_ANSWER_SECONDS, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            rule = f"be the address of a Dask scheduler that answers: {type(error).__name__}"
            raise InvalidInput("scheduler", self.scheduler, rule, "for example tcp://127.0.0.1:8786") from None
        with client:
            yield from _on_dask(distributed, client, work, batches)


def _on_dask(
    distributed: Any, client: Any, work: Callable[[Batch], Result], batches: Sequence[Batch]
) -> Iterator[tuple[int, Result]]:
    futures = {client.submit(_guarded, work, batch, pure=False): position for position, batch in enumerate(batches)}
    try:
        for future in distributed.as_completed(futures, loop=client.loop):
            yield futures[future], _opened(future.result())
    except distributed.KilledWorker as error:
        raise WorkFailed(f"workers of the cluster died too often: {error}") from None
    finally:
        client.cancel(list(futures))


def _guarded(work: Callable[[Batch], Result], batch: Batch) -> tuple[Result | None, str | None]:
    """A result or the words of an error: not every exception survives the way between processes."""
    try:
        return work(batch), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def _opened(answer: tuple[Result | None, str | None]) -> Result:
    result, failure = answer
    if failure is not None:
        raise WorkFailed(f"a worker failed: {failure}")
    return result  # type: ignore[return-value]  # None only together with a failure, or if work returns it


def _leave_interrupts_to_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
